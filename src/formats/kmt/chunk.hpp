// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks, of which a .kmt file is a sequence: a header with type, sizes and checksums, and a payload that may be
// compressed. Whoever does not know a type can step over it.
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
  std::uint64_t checksum = 0;  // of the payload as it is stored
  Bytes stored;                // the payload in the file

  std::uint64_t end() const { return offset + kChunkHeaderBytes + stored.size(); }
};

// The chunk at an offset; empty when there is no intact header, or not all of the payload.
std::optional<Chunk> chunk_at(Bytes file, std::uint64_t offset);
// The first chunk at or behind an offset, past whatever is damaged.
std::optional<Chunk> find_chunk(Bytes file, std::uint64_t offset);
// Whether the payload is what was written, by its checksum.
bool is_intact(const Chunk& chunk);
// The payload as it was written. Throws Error when the checksum or the compressed data is wrong.
std::vector<std::uint8_t> unpack(const Chunk& chunk);

// The same of one that make_patch() made of the same base.
std::vector<std::uint8_t> unpack_patch(const Chunk& chunk, Bytes base);

// Header and payload, compressed where that makes it smaller. Throws Error when it is larger than a chunk may be.
std::vector<std::uint8_t> make_chunk(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain);
// The same as what differs from `base`, which the reader has to have. Empty: it would be out of proportion.
std::vector<std::uint8_t> make_patch(ChunkType type, std::uint16_t stream, Bytes base,
                                     const std::vector<std::uint8_t>& plain);

}  // namespace kmt::kmt_format
