// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/user_memory.hpp"

#include <algorithm>

namespace kmt {

void sort_by_time(UserMemory& memory) { std::ranges::stable_sort(memory.changes, {}, &SpaceChange::time_ns); }

}  // namespace kmt
