// SPDX-License-Identifier: GPL-2.0-or-later
// Streams the events that a filter selects, in their order, with the allocations they start or end. Allocations are
// numbered, and a free names the number of the allocation that it ends.
//
// Events are selected as in a report. Allocations are selected by call site, task and memory. Frees are selected with
// their allocation. All other events are selected by place and task.
#pragma once

#include <memory>

#include "analysis/report/report.hpp"
#include "results/report/event_stream.hpp"

namespace kmt {

class EventStream {
 public:
  // Uses only the request's filter and tasks. All arguments must outlive the stream. The tables of `info` may grow
  // between batches.
  EventStream(const TraceInfo& info, const SymbolNames& symbols, const ReportRequest& request, EventSink& sink);
  ~EventStream();

  // Fill this before the first event if allocation events do not name the caches.
  CacheNames& cache_names();

  // Throws Error if there are more allocations than numbers.
  void add(EventBatch& batch);
  void finish(bool complete);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
