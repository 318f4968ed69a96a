// SPDX-License-Identifier: GPL-2.0-or-later
// Limits what an endless recording keeps about ended processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// If there are more than `most` changes, drops those of ended processes, the oldest end first, until half as many are
// left. A process keeps its changes while a forked one still runs its program. `ended` has the trace clock's times at
// which first threads ended; dropped processes are removed there too. Other threads may still run, one of them may have
// executed a program, and a process with a reused ID may have been reported before the end of the earlier one:
// is_there() shows whether an ID is in use.
void forget_ended(std::vector<SpaceChange>& changes, std::unordered_map<std::int32_t, std::uint64_t>& ended,
                  std::size_t most, const std::function<bool(std::int32_t process)>& is_there);

// True if a process has the ID, even if its first thread has ended.
bool is_process(std::int32_t id);

}  // namespace kmt
