// SPDX-License-Identifier: GPL-2.0-or-later
// The state of memory while a trace was recorded, from /proc/meminfo in the samples of the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct MemoryStateRow {
  std::string name;         // "SUnreclaim"
  std::uint64_t first = 0;  // value in the first sample, in bytes
  std::uint64_t last = 0;
  std::uint64_t most = 0;
};

struct MemoryState {
  std::size_t samples = 0;  // number of samples in the trace
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::vector<MemoryStateRow> rows;  // in the order of /proc/meminfo
};

}  // namespace kmt
