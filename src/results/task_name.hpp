// SPDX-License-Identifier: GPL-2.0-or-later
// The name of a task or process in results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct TaskName {
  std::optional<std::int32_t> id;  // empty for allocations in interrupts, because these belong to no task
  std::string comm;                // name of the task; for a process, its last name
  // Time of birth; 0: born before the trace. Only set if several tasks of the trace have this ID.
  std::optional<std::uint64_t> born_ns = {};
  // For a process: earlier names under which it allocated. Contains only the first few names.
  std::vector<std::string> earlier = {};
};

}  // namespace kmt
