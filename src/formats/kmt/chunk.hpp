// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks, the elements of a .kmt file: a header with type, sizes and checksums, and a payload that may be compressed.
// Readers skip chunks of unknown type.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/kmt/layout.hpp"

namespace kmt::kmt_format {

struct Chunk {
  std::uint64_t offset = 0;  // of the header, in the file
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint16_t stream = 0;
  std::uint32_t plain_bytes = 0;
  std::uint64_t checksum = 0;  // of the stored payload
  Bytes stored;                // the payload in the file

  std::uint64_t end() const { return offset + kChunkHeaderBytes + stored.size(); }
};

// Returns the chunk at an offset; empty if its header is damaged or its payload incomplete.
std::optional<Chunk> chunk_at(Bytes file, std::uint64_t offset);
// Returns the first chunk at or after an offset, skipping damage.
std::optional<Chunk> find_chunk(Bytes file, std::uint64_t offset);
// True if the payload matches its checksum.
bool is_intact(const Chunk& chunk);
// Returns the original payload. Throws Error if the checksum or the compressed data is wrong.
std::vector<std::uint8_t> unpack(const Chunk& chunk);

// The same for a chunk of make_patch() with the same base.
std::vector<std::uint8_t> unpack_patch(const Chunk& chunk, Bytes base);

// Makes header and payload, compressed if that is smaller. Throws Error if it exceeds a chunk's limit.
std::vector<std::uint8_t> make_chunk(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain);
// The same as a difference to `base`, which the reader must have. Empty if it would be out of proportion.
std::vector<std::uint8_t> make_patch(ChunkType type, std::uint16_t stream, Bytes base,
                                     const std::vector<std::uint8_t>& plain);

}  // namespace kmt::kmt_format
