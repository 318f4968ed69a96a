// SPDX-License-Identifier: GPL-2.0-or-later
// A block of events as it will stand in a file, made by whoever encoded it, so that packing needs no lock.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

// Large enough that a block's dictionary costs nothing an event, small enough to lose little with a block.
constexpr std::uint64_t kBlockEvents = 65536;
constexpr std::size_t kBlockBytes = 4u << 20;  // plain

struct PackedBlock {
  std::uint16_t stream = 0;
  std::vector<std::uint8_t> chunk;
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

inline bool is_full(const BlockEncoder& encoder) {
  return encoder.events() >= kBlockEvents || encoder.plain_bytes() >= kBlockBytes;
}

inline PackedBlock pack(std::uint16_t stream, const EventBlock& block) {
  return {stream, make_chunk(kEvents, stream, block.bytes), block.events, block.first_ticks, block.last_ticks};
}

}  // namespace kmt::kmt_format
