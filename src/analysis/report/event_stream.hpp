// SPDX-License-Identifier: GPL-2.0-or-later
// Passes on the events that a filter selects, in the order of the trace. Each event has the allocations that it starts
// or ends. Allocations are numbered, and a free has the number of the allocation that it ends. Events are selected as
// in a report: a free together with its allocation, and all other events by CPU, task and context.
#pragma once

#include <memory>

#include "analysis/report/report.hpp"
#include "results/report/event_stream.hpp"

namespace kmt {

class EventStream {
 public:
  // Uses only the filter and the tasks of `request`. All arguments must outlive the stream. The tables of `info` may
  // grow between batches.
  EventStream(const TraceInfo& info, const SymbolNames& symbols, const ReportRequest& request, EventSink& sink);
  ~EventStream();

  // Returns the names of caches. If allocation events do not name the caches, learn the names before the first event.
  CacheNames& cache_names();

  // Adds events. Throws Error if there are more allocations than 32-bit numbers can count.
  void add(EventBatch& batch);
  void finish(bool complete);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
