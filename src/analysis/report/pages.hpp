// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a trace for `pages`: the page allocator's story, task by task.
//
// The columns are those of the kernel's Documentation/trace/postprocess/trace-pagealloc-postprocess.pl (Linux 6.1), and
// the same orders decide: a fallback fragments below pageblock_order, and severely up to order 3.
//
// A run (of drains, of takings under the zone's lock) is what a task does in sequence: it ends with the task's next
// page event of another kind, whatever other tasks do meanwhile and on whichever CPU the task goes on. The idle task
// and interrupts are one on each CPU, with a sequence each.
//
// A filter comes first: events that it excludes neither count nor end a run. Frees count for the task that frees; live
// pages belong to the task that allocated them.
#pragma once

#include <memory>

#include "analysis/matching/event_filter.hpp"
#include "results/report/pages.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/source.hpp"

namespace kmt {

class PagesAnalysis {
 public:
  // All must outlive the analysis; the info's tables may grow between batches. `tasks` knows what tasks are called,
  // which `info` may not know yet.
  PagesAnalysis(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols, ReportFilter filter);
  ~PagesAnalysis();
  void add(const EventBatch& batch);
  // Call after the source has ended (or was interrupted: the result is that of what was read).
  PagesResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
