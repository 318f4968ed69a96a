// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks in the form in which a file stores them. A thread packs them before it locks the file, because packing takes
// time.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

// A block is complete when it reaches one of these sizes. It should be much larger than its dictionary, but so small
// that a damaged block is a small loss.
constexpr std::uint64_t kBlockEvents = 65536;
constexpr std::size_t kBlockBytes = 4u << 20;  // uncompressed size

struct PackedChunk {
  ChunkType type = kFacts;
  std::uint16_t stream = 0;
  std::vector<std::uint8_t> bytes;
};

// A block of events with its index entry.
struct PackedBlock {
  PackedChunk chunk;
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

inline bool is_full(const BlockEncoder& encoder) {
  return encoder.events() >= kBlockEvents || encoder.plain_bytes() >= kBlockBytes;
}

inline PackedChunk pack(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain) {
  return {type, stream, make_chunk(type, stream, plain)};
}

inline PackedBlock pack(std::uint16_t stream, const EventBlock& block) {
  return {{kEvents, stream, make_chunk(kEvents, stream, block.bytes, block.column_ends)},
          block.events,
          block.first_ticks,
          block.last_ticks};
}

}  // namespace kmt::kmt_format
