// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/chunk.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"

namespace kmt::kmt_format {

namespace {

// A recording waits for these compressions once per file. For texts, level 9 would save 7 % in twice the time. For
// large texts (the kernel's symbols), level 5 would save 5 % in twice the time.
constexpr int kLevelOfTexts = 5;
constexpr int kLevelOfLargeTexts = 3;
constexpr int kSizeOfTextTables = 17;  // log2; zstd needs 2 MiB with it instead of 6 MiB, and the text grows by 1 %
constexpr int kLevelOfPatches = 6;     // higher, because patches are written only every few seconds
constexpr std::size_t kMostOfABlockEnd = 32;  // bytes that ending a block of zstd may add to the compressed size
constexpr int kLeastWindow = 10;              // log2 of the smallest window of zstd, in bytes
constexpr int kMostWindow = 27;               // log2 of the largest window, in bytes; a patch needs room for two chunks

bool is_proportionate(std::uint64_t plain, std::uint64_t stored, std::uint64_t most = kMostRatio) {
  return plain <= kMostPlainBytes && plain <= stored * most;
}

std::uint64_t checksum_of(Bytes bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

// Fills in the header, which is the first part of `out`. The rest of `out` is the stored payload.
std::vector<std::uint8_t> with_header(std::vector<std::uint8_t>&& out, ChunkType type, std::uint8_t flags,
                                      std::uint16_t stream, std::size_t plain) {
  std::uint8_t* const header = out.data();
  const std::size_t stored = out.size() - kChunkHeaderBytes;
  store<std::uint32_t>(header, kChunkMagic, ByteOrder::little);
  header[4] = type;
  header[5] = flags;
  store<std::uint16_t>(header + 6, stream, ByteOrder::little);
  store<std::uint32_t>(header + 8, static_cast<std::uint32_t>(stored), ByteOrder::little);
  store<std::uint32_t>(header + 12, static_cast<std::uint32_t>(plain), ByteOrder::little);
  store<std::uint64_t>(header + 16, checksum_of(Bytes(out).subspan(kChunkHeaderBytes)), ByteOrder::little);
  store<std::uint64_t>(header + 24, checksum_of(Bytes(out).first(kChunkHeaderBytes - 8)), ByteOrder::little);
  out.shrink_to_fit();  // frees unused memory, because packed blocks may stay in memory for a long time
  return std::move(out);
}

void check_size(const std::vector<std::uint8_t>& plain) {
  if (plain.size() > kMostPlainBytes)
    throw Error(fmt::format("A chunk of {} bytes is more than a .kmt file can hold", plain.size()));
}

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Compresses all bytes into one frame, with a new block of zstd after each end. Returns the number of compressed bytes;
// 0 if `out` is too small.
std::size_t compress(Bytes plain, std::span<const std::size_t> ends, int level, std::span<std::uint8_t> out) {
  const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), plain.size());
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer in{plain.data(), 0, 0};
  for (std::size_t part = 0; part <= ends.size(); ++part) {
    const bool is_last = part == ends.size();
    in.size = is_last ? plain.size() : ends[part];
    if (ZSTD_compressStream2(context.get(), &to, &in, is_last ? ZSTD_e_end : ZSTD_e_flush) != 0) return 0;
  }
  return to.pos;
}

std::vector<std::uint8_t> make_compressed(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain,
                                          std::span<const std::size_t> ends, int level) {
  check_size(plain);
  std::vector<std::uint8_t> out(kChunkHeaderBytes + ZSTD_compressBound(plain.size()) + ends.size() * kMostOfABlockEnd);
  std::size_t stored = compress(plain, ends, level, std::span(out).subspan(kChunkHeaderBytes));
  const bool compressed = stored > 0 && stored < plain.size() && is_proportionate(plain.size(), stored);
  if (!compressed) {
    std::copy(plain.begin(), plain.end(), out.begin() + kChunkHeaderBytes);
    stored = plain.size();
  }
  out.resize(kChunkHeaderBytes + stored);
  return with_header(std::move(out), type, compressed ? kCompressed : 0, stream, plain.size());
}

Error damaged(const Chunk& chunk, const char* what) { return Error(what).at({{}, {}, chunk.offset}); }

}  // namespace

std::optional<Chunk> chunk_at(Bytes file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kChunkHeaderBytes) return std::nullopt;
  const Bytes header = file.subspan(to_size(offset), kChunkHeaderBytes);
  ByteReader in(header, ByteOrder::little, offset);
  Chunk chunk;
  chunk.offset = offset;
  if (in.u32() != kChunkMagic) return std::nullopt;
  chunk.type = in.u8();
  chunk.flags = in.u8();
  chunk.stream = in.u16();
  const std::uint32_t stored = in.u32();
  chunk.plain_bytes = in.u32();
  chunk.checksum = in.u64();
  if (in.u64() != checksum_of(header.first(kChunkHeaderBytes - 8))) return std::nullopt;
  if (stored > file.size() - offset - kChunkHeaderBytes) return std::nullopt;
  chunk.stored = file.subspan(to_size(offset + kChunkHeaderBytes), to_size(stored));
  return chunk;
}

std::optional<Chunk> find_chunk(Bytes file, std::uint64_t offset) {
  std::uint8_t magic[4];
  store(magic, kChunkMagic, ByteOrder::little);
  while (offset < file.size()) {
    if (auto chunk = chunk_at(file, offset)) return chunk;
    const auto from = file.begin() + static_cast<std::ptrdiff_t>(offset) + 1;
    offset =
        static_cast<std::uint64_t>(std::search(from, file.end(), std::begin(magic), std::end(magic)) - file.begin());
  }
  return std::nullopt;
}

bool is_intact(const Chunk& chunk) { return checksum_of(chunk.stored) == chunk.checksum; }

std::vector<std::uint8_t> unpack(const Chunk& chunk) {
  if (!is_intact(chunk)) throw damaged(chunk, "The chunk's checksum is wrong");
  if ((chunk.flags & ~kCompressed) != 0) throw damaged(chunk, "The chunk is packed in an unknown way");
  const bool compressed = (chunk.flags & kCompressed) != 0;
  // The zstd frame must state the unpacked size. So it is known before unpacking whether the size is in proportion to
  // the compressed size.
  const std::uint64_t announced =
      compressed ? ZSTD_getFrameContentSize(chunk.stored.data(), chunk.stored.size()) : chunk.stored.size();
  if (announced != chunk.plain_bytes || !is_proportionate(chunk.plain_bytes, chunk.stored.size()))
    throw damaged(chunk, "The chunk's sizes contradict each other");
  if (!compressed) return {chunk.stored.begin(), chunk.stored.end()};
  std::vector<std::uint8_t> plain(chunk.plain_bytes);
  const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0 || size != plain.size()) throw damaged(chunk, "The chunk cannot be unpacked");
  return plain;
}

std::vector<std::uint8_t> unpack_patch(const Chunk& chunk, Bytes base) {
  if (!is_intact(chunk)) throw damaged(chunk, "The chunk's checksum is wrong");
  if (chunk.flags != kPatch) throw damaged(chunk, "The chunk is packed in an unknown way");
  if (ZSTD_getFrameContentSize(chunk.stored.data(), chunk.stored.size()) != chunk.plain_bytes ||
      !is_proportionate(chunk.plain_bytes, chunk.stored.size(), kMostPatchRatio))
    throw damaged(chunk, "The chunk's sizes contradict each other");
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  ZSTD_DCtx_refPrefix(context.get(), base.data(), base.size());
  std::vector<std::uint8_t> plain(chunk.plain_bytes);
  const std::size_t size =
      ZSTD_decompressDCtx(context.get(), plain.data(), plain.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0 || size != plain.size()) throw damaged(chunk, "The chunk cannot be unpacked");
  return plain;
}

std::vector<std::uint8_t> make_chunk(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain) {
  return make_compressed(type, stream, plain, {}, kLevelOfTexts);
}

std::vector<std::uint8_t> make_events_chunk(std::uint16_t stream, const std::vector<std::uint8_t>& plain,
                                            std::span<const std::size_t> ends, int level) {
  return make_compressed(kEvents, stream, plain, ends, level);
}

std::vector<std::uint8_t> make_text_chunk(ChunkType type, std::uint16_t stream, Bytes head, Bytes text) {
  const std::size_t plain = head.size() + text.size();
  const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevelOfLargeTexts);
  for (const ZSTD_cParameter size : {ZSTD_c_windowLog, ZSTD_c_hashLog, ZSTD_c_chainLog})
    ZSTD_CCtx_setParameter(context.get(), size, kSizeOfTextTables);
  ZSTD_CCtx_setPledgedSrcSize(context.get(), plain);
  std::vector<std::uint8_t> out(kChunkHeaderBytes);
  std::size_t left = 1;  // bytes that zstd has not written yet, or an error
  for (const bool is_last : {false, true}) {
    const Bytes part = is_last ? text : head;
    ZSTD_inBuffer in{part.data(), part.size(), 0};
    do {
      const std::size_t used = out.size();
      out.resize(used + ZSTD_CStreamOutSize());
      ZSTD_outBuffer to{out.data(), out.size(), used};
      left = ZSTD_compressStream2(context.get(), &to, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
      out.resize(to.pos);
    } while (ZSTD_isError(left) == 0 && (is_last ? left != 0 : in.pos < in.size));
  }
  const std::size_t stored = out.size() - kChunkHeaderBytes;
  if (ZSTD_isError(left) == 0 && stored < plain && is_proportionate(plain, stored))
    return with_header(std::move(out), type, kCompressed, stream, plain);
  std::vector<std::uint8_t> whole(head.begin(), head.end());
  whole.insert(whole.end(), text.begin(), text.end());
  return make_chunk(type, stream, whole);
}

std::vector<std::uint8_t> make_patch(ChunkType type, std::uint16_t stream, Bytes base,
                                     const std::vector<std::uint8_t>& plain) {
  check_size(plain);
  const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevelOfPatches);
  // The window must be large enough for the whole base and the new data.
  const int reach = static_cast<int>(std::bit_width(base.size() + plain.size()));
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, std::clamp(reach, kLeastWindow, kMostWindow));
  ZSTD_CCtx_refPrefix(context.get(), base.data(), base.size());
  std::vector<std::uint8_t> out(kChunkHeaderBytes + ZSTD_compressBound(plain.size()));
  const std::size_t stored = ZSTD_compress2(context.get(), out.data() + kChunkHeaderBytes,
                                            out.size() - kChunkHeaderBytes, plain.data(), plain.size());
  if (ZSTD_isError(stored) != 0 || !is_proportionate(plain.size(), stored, kMostPatchRatio)) return {};
  out.resize(kChunkHeaderBytes + stored);
  return with_header(std::move(out), type, kPatch, stream, plain.size());
}

}  // namespace kmt::kmt_format
