// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/chunk.hpp"

#include <algorithm>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "base/error.hpp"

namespace kmt::kmt_format {

namespace {

constexpr int kCompressionLevel = 1;
// What a chunk may unpack to: a damaged or hostile file must not take memory out of proportion to its size.
constexpr std::uint32_t kMostPlainBytes = 64u << 20;
constexpr std::uint32_t kAlwaysAllowed = 1u << 20;
constexpr std::uint64_t kMostRatio = 256;

// Over the header up to the checksum itself, then the payload.
std::uint64_t checksum_of(const std::uint8_t* header, Bytes payload) {
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(header, kChunkHeaderBytes - 8));
}

Error damaged(const Chunk& chunk, const char* what) {
  Error error(what);
  error.at({{}, {}, chunk.offset});
  return error;
}

}  // namespace

std::optional<Chunk> chunk_at(Bytes file, std::uint64_t offset) {
  if (offset > file.size() || file.size() - offset < kChunkHeaderBytes) return std::nullopt;
  ByteReader in(file.subspan(offset, kChunkHeaderBytes), ByteOrder::little, offset);
  Chunk chunk;
  chunk.offset = offset;
  if (in.u32() != kChunkMagic) return std::nullopt;
  chunk.type = in.u8();
  chunk.flags = in.u8();
  chunk.stream = in.u16();
  const std::uint32_t stored = in.u32();
  chunk.plain_bytes = in.u32();
  chunk.checksum = in.u64();
  if (stored > file.size() - offset - kChunkHeaderBytes) return std::nullopt;
  chunk.stored = file.subspan(offset + kChunkHeaderBytes, stored);
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

std::vector<std::uint8_t> unpack(const Chunk& chunk) {
  const std::uint8_t* const header = chunk.stored.data() - kChunkHeaderBytes;
  if (checksum_of(header, chunk.stored) != chunk.checksum) throw damaged(chunk, "The chunk's checksum is wrong");
  if ((chunk.flags & kCompressed) == 0) return {chunk.stored.begin(), chunk.stored.end()};
  // The frame has to announce the size itself: memory is taken only for what compressed data can hold.
  const bool proportionate =
      chunk.plain_bytes <= kAlwaysAllowed || chunk.plain_bytes / kMostRatio <= chunk.stored.size();
  if (chunk.plain_bytes > kMostPlainBytes || !proportionate ||
      ZSTD_getFrameContentSize(chunk.stored.data(), chunk.stored.size()) != chunk.plain_bytes)
    throw damaged(chunk, "The chunk's sizes contradict each other");
  std::vector<std::uint8_t> plain(chunk.plain_bytes);
  const std::size_t size = ZSTD_decompress(plain.data(), plain.size(), chunk.stored.data(), chunk.stored.size());
  if (ZSTD_isError(size) != 0 || size != plain.size()) throw damaged(chunk, "The chunk cannot be unpacked");
  return plain;
}

std::vector<std::uint8_t> make_chunk(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain) {
  std::vector<std::uint8_t> out(kChunkHeaderBytes + ZSTD_compressBound(plain.size()));
  std::size_t stored = ZSTD_compress(out.data() + kChunkHeaderBytes, out.size() - kChunkHeaderBytes, plain.data(),
                                     plain.size(), kCompressionLevel);
  const bool compressed = ZSTD_isError(stored) == 0 && stored < plain.size();
  if (!compressed) {
    std::copy(plain.begin(), plain.end(), out.begin() + kChunkHeaderBytes);
    stored = plain.size();
  }
  out.resize(kChunkHeaderBytes + stored);
  std::uint8_t* const header = out.data();
  store<std::uint32_t>(header, kChunkMagic, ByteOrder::little);
  header[4] = type;
  header[5] = compressed ? kCompressed : 0;
  store<std::uint16_t>(header + 6, stream, ByteOrder::little);
  store<std::uint32_t>(header + 8, static_cast<std::uint32_t>(stored), ByteOrder::little);
  store<std::uint32_t>(header + 12, static_cast<std::uint32_t>(plain.size()), ByteOrder::little);
  store<std::uint64_t>(header + 16, checksum_of(header, Bytes(out).subspan(kChunkHeaderBytes)), ByteOrder::little);
  return out;
}

}  // namespace kmt::kmt_format
