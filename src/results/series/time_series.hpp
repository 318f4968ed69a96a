// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace kmt {

struct TimeSeriesPoint {
  std::int64_t live_bytes = 0;  // bytes that are live at the end of the bucket and were allocated since the start
  std::uint64_t bytes_allocated = 0;
  std::uint64_t allocations = 0;
};

}  // namespace kmt
