// SPDX-License-Identifier: GPL-2.0-or-later
// The name of a task or process in results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct TaskName {
  std::optional<std::int32_t> id;  // empty for allocations in interrupts, which belong to no task
  std::string comm;                // name; for a process, its last name
  // Set if several tasks of the trace have this ID; 0: born before the trace.
  std::optional<std::uint64_t> born_ns = {};
  // For a process: the names under which it allocated earlier (only the first ones).
  std::vector<std::string> earlier = {};
};

}  // namespace kmt
