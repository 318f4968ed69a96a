// SPDX-License-Identifier: GPL-2.0-or-later
// The events that a filter selects, in their order, each with what it allocates or frees: allocations have numbers, and
// a free names that of what it ends.
//
// An event is selected as in a report: allocations by where, by whom and of what they were made, frees that match an
// allocation with it, all others by where and by whom they happened.
#pragma once

#include <memory>

#include "analysis/report/report.hpp"
#include "results/report/event_stream.hpp"

namespace kmt {

class EventStream {
 public:
  // Uses only the request's filter and tasks. All arguments must outlive the stream; the info's tables may grow between
  // batches.
  EventStream(const TraceInfo& info, const SymbolNames& symbols, const ReportRequest& request, EventSink& sink);
  ~EventStream();

  // To be filled before the first event, where the trace does not name caches in its allocations.
  CacheNames& cache_names();

  // Throws Error where there are more allocations than numbers.
  void add(EventBatch& batch);
  void finish(bool complete);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
