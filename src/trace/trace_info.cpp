// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/trace_info.hpp"

#include <algorithm>
#include <numeric>

namespace kmt {

std::string_view task_name(const TraceInfo& info, std::int32_t tid, std::uint64_t time_ns) {
  if (tid == 0) return "<idle>";
  if (const auto told = info.task_names.at(tid, time_ns)) return *told;
  const auto last = info.comms.find(tid);
  return last != info.comms.end() ? std::string_view(last->second) : "<...>";
}

// The group is a task of its own, and another task's thread where an event told of that one only later. A trace that
// was tampered with may lead in a circle.
std::optional<std::int32_t> thread_group(const TraceInfo& info, std::int32_t tid) {
  if (tid == 0) return 0;
  auto known = info.thread_groups.find(tid);
  if (known == info.thread_groups.end()) return std::nullopt;
  for (unsigned steps = 0; steps < 16 && known->second != known->first; ++steps) {
    const auto leader = info.thread_groups.find(known->second);
    if (leader == info.thread_groups.end()) break;
    known = leader;
  }
  return known->second;
}

bool may_tell_earlier_names(const TraceInfo& info) {
  return std::any_of(info.event_types.begin(), info.event_types.end(),
                     [](const EventType& type) { return type.system == "task" || type.system == "sched"; });
}

std::vector<std::uint64_t> lost_events_per_cpu(const TraceInfo& info) {
  unsigned cpus = info.cpus;
  for (const LostEvents& lost : info.lost) cpus = std::max(cpus, lost.cpu + 1);
  for (const BufferStatistics& statistics : info.buffer_statistics) cpus = std::max(cpus, statistics.cpu + 1);

  std::vector<std::uint64_t> marked(cpus, 0);
  std::vector<std::uint64_t> overwritten(cpus, 0);
  std::vector<std::uint64_t> others(cpus, 0);  // of which no page tells
  for (const LostEvents& lost : info.lost) marked[lost.cpu] += lost.count.value_or(1);
  for (const BufferStatistics& statistics : info.buffer_statistics) {
    overwritten[statistics.cpu] += statistics.overrun;
    others[statistics.cpu] += statistics.commit_overrun + statistics.dropped + statistics.not_recorded;
  }
  for (unsigned cpu = 0; cpu < cpus; ++cpu) marked[cpu] = std::max(marked[cpu], overwritten[cpu]) + others[cpu];
  return marked;
}

std::uint64_t total_lost_events(const TraceInfo& info) {
  const std::vector<std::uint64_t> lost = lost_events_per_cpu(info);
  return std::accumulate(lost.begin(), lost.end(), info.lost_somewhere);
}

}  // namespace kmt
