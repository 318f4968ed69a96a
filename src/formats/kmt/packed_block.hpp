// SPDX-License-Identifier: GPL-2.0-or-later
// Chunks in the form in which a file stores them. A thread packs them before it locks the file, because packing takes
// time.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

// How blocks are packed. A block is complete when it reaches one of the sizes.
struct Packing {
  std::uint64_t events;
  std::size_t bytes;  // uncompressed size
  int level;          // of zstd
};
// A block should be much larger than its dictionary, but so small that a damaged block is a small loss. The level is
// low to save time, because columns are already compact and there are many blocks.
constexpr Packing kForRecording{65536, 4u << 20, 1};
// With larger blocks, a file repeats shapes and addresses less often. Packing takes 10 times as long.
constexpr Packing kForArchive{kMostEvents, 32u << 20, 19};

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

inline bool is_full(const BlockEncoder& encoder, const Packing& packing = kForRecording) {
  return encoder.events() >= packing.events || encoder.plain_bytes() >= packing.bytes;
}

inline PackedChunk pack(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain) {
  return {type, stream, make_chunk(type, stream, plain)};
}

inline PackedBlock pack(std::uint16_t stream, const EventBlock& block, const Packing& packing = kForRecording) {
  return {{kEvents, stream, make_events_chunk(stream, block.bytes, block.column_ends, packing.level)},
          block.events,
          block.first_ticks,
          block.last_ticks};
}

}  // namespace kmt::kmt_format
