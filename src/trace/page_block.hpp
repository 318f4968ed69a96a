// SPDX-License-Identifier: GPL-2.0-or-later
// Blocks of pages of the page allocator.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/trace_info.hpp"

namespace kmt {

// Returns the bytes of a block of 2^order pages. Damaged records may contain any order, so it is limited to 32, which
// is more than any kernel has.
inline std::uint64_t block_bytes(const TraceInfo& info, unsigned order) {
  return info.machine.page_size << std::min(order, 32u);
}

}  // namespace kmt
