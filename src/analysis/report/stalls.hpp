// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of `pages --stalls`: how long tasks waited for memory, by task, cgroup, call site and kind.
//
// The filter selects a wait by its first event. The rest of the wait counts even if it is outside the time window.
#pragma once

#include <memory>

#include "analysis/matching/event_filter.hpp"
#include "analysis/matching/grouping.hpp"
#include "results/report/stalls.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

class StallsAnalysis {
 public:
  // All arguments must outlive the analysis. `tasks` contains names of tasks that may not be in `info` yet. Keeps the
  // `longest` longest waits; 0: all.
  StallsAnalysis(const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols, FindCaller find_caller,
                 ReportFilter filter, std::size_t longest);
  ~StallsAnalysis();
  void add(const EventBatch& batch);
  // Returns the result. Call this function after the source has ended.
  StallsResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
