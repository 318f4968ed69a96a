// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/info/losses.hpp"

#include <algorithm>
#include <numeric>

#include "base/number.hpp"

namespace kmt {

std::vector<std::uint64_t> lost_events_per_cpu(const TraceLosses& losses, unsigned cpus) {
  for (const LostEvents& lost : losses.intervals) cpus = std::max(cpus, lost.cpu + 1);
  for (const BufferStatistics& buffer : losses.buffers) cpus = std::max(cpus, buffer.cpu + 1);

  std::vector<std::uint64_t> marked(cpus, 0);
  std::vector<std::uint64_t> overwritten(cpus, 0);
  // Number of losses that are only in the statistics, never marked in a page.
  std::vector<std::uint64_t> others(cpus, 0);
  for (const LostEvents& lost : losses.intervals)
    marked[lost.cpu] = sum_of_counts(marked[lost.cpu], lost.count.value_or(1));
  for (const BufferStatistics& buffer : losses.buffers) {
    overwritten[buffer.cpu] = sum_of_counts(overwritten[buffer.cpu], buffer.overrun);
    for (const std::uint64_t count : {buffer.commit_overrun, buffer.dropped, buffer.not_recorded})
      others[buffer.cpu] = sum_of_counts(others[buffer.cpu], count);
  }
  for (unsigned cpu = 0; cpu < cpus; ++cpu)
    marked[cpu] = sum_of_counts(std::max(marked[cpu], overwritten[cpu]), others[cpu]);
  return marked;
}

std::uint64_t total_lost_events(const TraceLosses& losses) {
  const std::vector<std::uint64_t> lost = lost_events_per_cpu(losses, 0);
  return std::accumulate(lost.begin(), lost.end(), losses.somewhere, sum_of_counts);
}

}  // namespace kmt
