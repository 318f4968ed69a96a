// SPDX-License-Identifier: GPL-2.0-or-later
// Number and bytes of allocations, for example of those that are live at the end of a trace.
#pragma once

#include <cstdint>

namespace kmt {

struct LiveCount {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;

  LiveCount& operator+=(const LiveCount& other) {
    allocations += other.allocations;
    bytes += other.bytes;
    return *this;
  }
  friend bool operator==(const LiveCount&, const LiveCount&) = default;
  friend LiveCount operator+(LiveCount one, const LiveCount& other) { return one += other; }
};

}  // namespace kmt
