// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/block_span.hpp"

#include <vector>

#include "base/error.hpp"
#include "formats/kmt/block_reader.hpp"

namespace kmt::kmt_format {

BlockSpan span_of(const Chunk& chunk, ByteOrder record_order) {
  BlockSpan span;
  try {
    const std::vector<std::uint8_t> plain = unpack(chunk);
    BlockReader reader(plain, record_order);
    for (BlockEvent event; reader.next(event); ++span.events) {
      if (span.events == 0) span.first_ticks = event.ticks;
      span.last_ticks = event.ticks;
    }
  } catch (const Error&) {
  }
  return span;
}

}  // namespace kmt::kmt_format
