// SPDX-License-Identifier: GPL-2.0-or-later
// The number and the times of the events in a block.
#pragma once

#include <cstdint>

#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

struct BlockSpan {
  std::uint64_t events = 0;
  std::uint64_t first_ticks = 0;
  std::uint64_t last_ticks = 0;
};

// Counts only events that can be read, because even a block with a correct checksum may be damaged if the program that
// wrote it had a bug.
BlockSpan span_of(const Chunk& chunk, ByteOrder record_order);

}  // namespace kmt::kmt_format
