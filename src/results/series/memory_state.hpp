// SPDX-License-Identifier: GPL-2.0-or-later
// How memory stood while a trace was recorded, by the kernel's own account: /proc/meminfo of the trace's samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct MemoryStateRow {
  std::string name;         // "SUnreclaim"
  std::uint64_t first = 0;  // bytes, of the first sample
  std::uint64_t last = 0;
  std::uint64_t most = 0;
};

struct MemoryState {
  std::size_t samples = 0;  // 0: the trace has none
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::vector<MemoryStateRow> rows;  // in meminfo's order
};

}  // namespace kmt
