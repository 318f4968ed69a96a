// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `timeline`: live bytes and rates over time, and the kernel's own counters.
// docs/formats/timeline-json.md has the definitions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"
#include "results/report/stalls.hpp"

namespace kmt {

struct Timeline {
  Allocator allocator = Allocator::slab;
  std::string name;                 // name of a group; empty: the whole allocator
  const GroupRow* group = nullptr;  // points into TimelineResult::report; null for the timeline of a whole allocator
  std::vector<TimeSeriesPoint> points;  // one point for each time bucket
  bool knows_bytes = true;
};

// Returns those live allocations of a timeline that the kernel may have freed without an event.
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
  std::int64_t explained = 0;  // change in bytes that the trace explains; positive if the trace explains an increase
  std::string_view of_what;    // text for the user: the events in `explained`, and why the counter may differ
};

struct TimelineResult {
  ReportResult report;
  TimeAxis axis;                       // time axis of Timeline::points; may be coarser than the axis in `report`
  std::vector<Timeline> allocators;    // one timeline for each allocator that has allocations
  std::vector<Timeline> groups;        // timelines of the groups with the highest peaks, sorted by allocator
  std::vector<Balance> balances;       // empty if only a part of the trace was selected or read
  std::optional<StallsResult> stalls;  // empty if the trace cannot contain events of stalls
};

}  // namespace kmt
