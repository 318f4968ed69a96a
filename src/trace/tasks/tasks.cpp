// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/tasks/tasks.hpp"

#include <algorithm>

namespace kmt {

std::string_view task_name(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns) {
  if (tid == 0) return "<idle>";
  if (const auto name = tasks.names.at(tid, time_ns)) return *name;
  const auto last = tasks.comms.find(tid);
  return last != tasks.comms.end() ? std::string_view(last->second) : "<...>";
}

std::uint64_t unchanged_until_ns(const TraceTasks& tasks, std::int32_t tid, std::uint64_t time_ns) {
  const std::uint64_t next_birth_ns = tasks.lives.next_birth_ns(tid, tasks.lives.life_at(tid, time_ns));
  return std::min(next_birth_ns, tasks.names.next_change_ns(tid, time_ns));
}

// Returns the process of a thread. The recorded process ID may be that of another thread whose process was reported
// later. In this case, the search continues with that thread. The number of steps is limited, because a forged trace
// may contain a circle.
std::optional<std::int32_t> thread_group(const TraceTasks& tasks, std::int32_t tid) {
  if (tid == 0) return 0;
  auto known = tasks.thread_groups.find(tid);
  if (known == tasks.thread_groups.end()) return std::nullopt;
  for (unsigned steps = 0; steps < 16 && known->second != known->first; ++steps) {
    const auto leader = tasks.thread_groups.find(known->second);
    if (leader == tasks.thread_groups.end()) break;
    known = leader;
  }
  return known->second;
}

}  // namespace kmt
