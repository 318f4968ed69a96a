// SPDX-License-Identifier: GPL-2.0-or-later
// Joins the reports on two traces, which may be of different kernels, by what groups are called.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/event_filter.hpp"
#include "analysis/trace_summary.hpp"
#include "results/diff.hpp"

namespace kmt {

// Counts the events of a time window, whatever allocations are selected.
class ActivityCount {
 public:
  explicit ActivityCount(const ReportFilter& filter) : from_(filter.from), to_(filter.to) {}
  void add(const EventBatch& batch, const TraceInfo& info);
  Activity finish() const;

 private:
  std::optional<TimeEdge> from_;
  std::optional<TimeEdge> to_;
  bool begun_ = false;
  std::uint64_t from_ns_ = 0;
  std::uint64_t to_ns_ = ~std::uint64_t{0};
  EventSpan span_;
  std::vector<std::pair<std::string, std::uint64_t>> counts_;  // by EventTypeId
  std::array<bool, kAllocators> allocated_{};
};

struct DiffRequest {
  // Whether call sites are joined by symbol and offset, which only the same build of a kernel has in common.
  bool exact = false;
  std::optional<DiffPer> per;  // empty: DiffPer::second where the traces do not last about as long, else DiffPer::trace
  std::string event;           // DiffPer::event: "sched_process_fork" or "sched:sched_process_fork"
};

struct DiffSide {
  ReportResult report;
  Activity activity;
};

// Throws Error where counts cannot be divided as asked for. Both reports are of the same keys.
DiffResult diff(const DiffSide& a, const DiffSide& b, const DiffRequest& request);

}  // namespace kmt
