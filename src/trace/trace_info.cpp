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

std::vector<std::uint64_t> lost_events_per_cpu(const TraceInfo& info) {
  unsigned cpus = info.cpus;
  for (const LostEvents& lost : info.lost) cpus = std::max(cpus, lost.cpu + 1);
  for (const BufferStatistics& statistics : info.buffer_statistics) cpus = std::max(cpus, statistics.cpu + 1);

  std::vector<std::uint64_t> marked(cpus, 0);
  std::vector<std::uint64_t> counted(cpus, 0);
  std::vector<std::uint64_t> not_recorded(cpus, 0);
  for (const LostEvents& lost : info.lost) marked[lost.cpu] += lost.count.value_or(1);
  for (const BufferStatistics& statistics : info.buffer_statistics) {
    counted[statistics.cpu] += statistics.overrun + statistics.commit_overrun + statistics.dropped;
    not_recorded[statistics.cpu] += statistics.not_recorded;
  }
  for (unsigned cpu = 0; cpu < cpus; ++cpu) marked[cpu] = std::max(marked[cpu], counted[cpu]) + not_recorded[cpu];
  return marked;
}

std::uint64_t total_lost_events(const TraceInfo& info) {
  const std::vector<std::uint64_t> lost = lost_events_per_cpu(info);
  return std::accumulate(lost.begin(), lost.end(), std::uint64_t{0});
}

}  // namespace kmt
