// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the memory for ended processes during a recording without end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// If there are more than `most` changes, drops changes of ended processes until half of `most` are left. Drops the
// processes that ended first. A process keeps its changes while a process forked from it still runs its program.
// `ended` has the times (of the trace clock) at which the first threads of processes ended; dropped processes are
// removed from `ended` too. After that end, other threads of the process may still run, and one of them may have
// executed a program. A new process with the same ID may even be reported before the end of the earlier one. Therefore
// is_there() must show whether an ID is in use.
void forget_ended(std::vector<SpaceChange>& changes, std::unordered_map<std::int32_t, std::uint64_t>& ended,
                  std::size_t most, const std::function<bool(std::int32_t process)>& is_there);

// True if a process has the ID, even if its first thread has ended.
bool is_process(std::int32_t id);

}  // namespace kmt
