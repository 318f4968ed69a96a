// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `timeline`: live bytes and rates over time, and the kernel's own account beside them. The definitions
// are those of docs/formats/timeline-json.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

struct Timeline {
  Allocator allocator = Allocator::slab;
  std::string name;                     // of a group; empty: the whole allocator
  const GroupRow* group = nullptr;      // into TimelineResult::report; null: the whole allocator
  std::vector<TimeSeriesPoint> points;  // a point for each bucket
  bool knows_bytes = true;
};

// The change by the kernel's account, and the part that the trace explains, from the first to the last sample with the
// value.
struct Balance {
  MemorySource source = MemorySource::meminfo;
  std::string name;  // "SUnreclaim", "dentry"
  double first = 0;  // bytes
  double last = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::int64_t explained = 0;  // bytes, growing as the kernel's value grows
  std::string_view of_what;    // the meaning of `explained`, and why it may differ
};

struct TimelineResult {
  ReportResult report;
  TimeAxis axis;                     // of the points, which may be coarser than the report's
  std::vector<Timeline> allocators;  // of those with allocations
  std::vector<Timeline> groups;      // those with the highest peaks, by allocator
  std::vector<Balance> balances;     // none where only a part of the trace was chosen or read
};

}  // namespace kmt
