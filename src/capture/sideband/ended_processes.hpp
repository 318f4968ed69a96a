// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the memory for ended processes during a long recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// Drops changes of ended processes if there are more than `most` changes, until half of `most` are left. The process
// that ended first is dropped first. An ended process keeps its changes while a process that it forked runs the same
// program. `ended` has the time (of the trace clock) at which the first thread of each process ended. Dropped processes
// are removed from `ended`. Other threads of an ended process may run longer and may execute a program. The kernel may
// also report a new process with the same ID before the end of the old one. Therefore is_there() must return whether a
// process with this ID exists.
void forget_ended(std::vector<SpaceChange>& changes, std::unordered_map<std::int32_t, std::uint64_t>& ended,
                  std::size_t most, const std::function<bool(std::int32_t process)>& is_there);

// True if a process has the ID, even if its first thread has ended.
bool is_process(std::int32_t id);

}  // namespace kmt
