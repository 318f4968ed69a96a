// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes chunks, the elements of a .kmt file. A chunk is a header with type, sizes and checksums, followed by
// a payload that may be compressed. Readers skip chunks of unknown type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

struct Chunk {
  std::uint64_t offset = 0;  // position of the header in the file, in bytes
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint16_t stream = 0;
  std::uint32_t plain_bytes = 0;
  std::uint64_t checksum = 0;  // checksum of the stored payload
  Bytes stored;                // the payload as stored in the file

  std::uint64_t end() const { return offset + kChunkHeaderBytes + stored.size(); }
};

// Returns the chunk at an offset. Empty if its header is damaged or its payload is incomplete.
std::optional<Chunk> chunk_at(Bytes file, std::uint64_t offset);
// Returns the first chunk at or after an offset. Skips damaged bytes.
std::optional<Chunk> find_chunk(Bytes file, std::uint64_t offset);
// True if the stored payload matches its checksum.
bool is_intact(const Chunk& chunk);
// Returns the uncompressed payload. Throws Error if the checksum is wrong or the data cannot be unpacked.
std::vector<std::uint8_t> unpack(const Chunk& chunk);

// Returns the uncompressed payload of a chunk from make_patch(). `base` must be the base that make_patch() used.
std::vector<std::uint8_t> unpack_patch(const Chunk& chunk, Bytes base);

// Returns the header and the payload. Compresses the payload if that makes it smaller. Throws Error if the payload is
// too large for a chunk.
std::vector<std::uint8_t> make_chunk(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain);
// Returns the chunk of a block of events. `ends` are ascending positions in the payload at which parts end, so
// that zstd uses separate codes for each part. `level` is the compression level of zstd.
std::vector<std::uint8_t> make_events_chunk(std::uint16_t stream, const std::vector<std::uint8_t>& plain,
                                            std::span<const std::size_t> ends, int level);
// Returns a chunk whose payload is `head` and then `text`. Needs no copy of a large text.
std::vector<std::uint8_t> make_text_chunk(ChunkType type, std::uint16_t stream, Bytes head, Bytes text);
// Returns the header and the payload of a patch, which stores only the difference to `base`. The reader must have
// `base`. Returns {} if the ratio of the sizes is larger than readers accept.
std::vector<std::uint8_t> make_patch(ChunkType type, std::uint16_t stream, Bytes base,
                                     const std::vector<std::uint8_t>& plain);

}  // namespace kmt::kmt_format
