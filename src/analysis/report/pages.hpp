// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of `pages` in one pass over a trace: the work of the page allocator for each task.
//
// The columns are those of a script of Linux 6.1: Documentation/trace/postprocess/trace-pagealloc-postprocess.pl. The
// limits are from this script too: a fallback to a block below pageblock_order causes fragmentation, and up to order 3
// the fragmentation is severe.
//
// A run is a sequence of events of one task: either pages drained from per-CPU lists, or pages allocated under the zone
// lock. The run ends with the task's next page event of another kind. Events of other tasks do not end it, nor does a
// migration to another CPU. On each CPU, the idle task and each kind of interrupt have a separate sequence.
//
// The filter is applied first: events that the filter excludes are not counted and do not end a run. Frees count for
// the freeing task. Live pages count for the task that allocated them.
#pragma once

#include <memory>

#include "analysis/matching/event_filter.hpp"
#include "results/report/pages.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/source.hpp"

namespace kmt {

class PagesAnalysis {
 public:
  // All arguments must outlive the analysis. The tables of `info` may grow between batches. `tasks` contains names of
  // tasks that may not be in `info` yet.
  PagesAnalysis(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols, ReportFilter filter);
  ~PagesAnalysis();
  void add(const EventBatch& batch);
  // Returns the result. Call this function after the source has ended. If reading was interrupted, the result covers
  // only the events that were read.
  PagesResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
