// SPDX-License-Identifier: GPL-2.0-or-later
// What a recording that never ends keeps of processes that have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "trace/code/user_memory.hpp"

namespace kmt {

// Where there are more than `most` changes, those of processes that ended go, the oldest end first, until half as many
// are left. What was forked from one and still runs its program needs them: they stay. `ended` are the times on the
// trace's clock when their first threads ended; those that are forgotten go there too. Others of their threads may run
// on, one of them may have executed a program, and who has an id next may have been told of before the end of who had
// it: is_there() says whose id is in use.
void forget_ended(std::vector<SpaceChange>& changes, std::unordered_map<std::int32_t, std::uint64_t>& ended,
                  std::size_t most, const std::function<bool(std::int32_t process)>& is_there);

// Whether a process has the id, be it that only threads other than its first one run.
bool is_process(std::int32_t id);

}  // namespace kmt
