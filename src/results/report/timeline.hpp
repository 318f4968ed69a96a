// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `timeline`: live bytes and rates over time, and the kernel's own counters.
// docs/formats/timeline-json.md has the definitions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

struct Timeline {
  Allocator allocator = Allocator::slab;
  std::string name;                     // name of a group; empty: the whole allocator
  const GroupRow* group = nullptr;      // points into TimelineResult::report; null: the timeline of a whole allocator
  std::vector<TimeSeriesPoint> points;  // one point for each time bucket
  bool knows_bytes = true;
};

// Returns the live allocations of a timeline that may be freed.
inline const LiveCount& maybe_freed_of(const Timeline& timeline, const ReportResult& report) {
  return timeline.group != nullptr ? timeline.group->maybe_freed : totals_of(report, timeline.allocator).maybe_freed;
}

// The change of a kernel counter between the first and the last sample, and the part of the change that the events of
// the trace explain.
struct Balance {
  MemorySource source = MemorySource::meminfo;
  std::string name;  // "SUnreclaim", "dentry"
  double first = 0;  // bytes
  double last = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::int64_t explained = 0;  // change in bytes that the trace explains; positive if the counter should increase
  std::string_view of_what;    // text about `explained`: its content, and why it may differ from the counter
};

struct TimelineResult {
  ReportResult report;
  TimeAxis axis;                     // time axis of Timeline::points, which may be coarser than the axis of the report
  std::vector<Timeline> allocators;  // one for each allocator with allocations
  std::vector<Timeline> groups;      // one for each of the groups with the highest peaks, sorted by allocator
  std::vector<Balance> balances;     // empty if only a part of the trace was selected or read
};

}  // namespace kmt
