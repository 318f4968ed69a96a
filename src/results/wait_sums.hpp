// SPDX-License-Identifier: GPL-2.0-or-later
// Sums of the times that tasks waited for memory. docs/formats/stalls-json.md has the definitions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "trace/stall.hpp"

namespace kmt {

// Sums of waits. The times of all kinds add up to total_ns.
struct WaitSums {
  std::uint64_t waits = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
  std::array<std::uint64_t, kWaitKinds> own_ns{};  // by StallKind: time in the stall itself, without nested stalls
  std::uint64_t reclaimed_pages = 0;

  void add(const WaitSums& other) {
    waits += other.waits;
    total_ns += other.total_ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
    for (std::size_t kind = 0; kind < kWaitKinds; ++kind) own_ns[kind] += other.own_ns[kind];
    reclaimed_pages += other.reclaimed_pages;
  }
};

// The waits of one process, cgroup, call site, order or set of GFP flags.
struct WaitGroup {
  std::string name;
  WaitSums sums;
};

}  // namespace kmt
