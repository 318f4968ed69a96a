// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of `pages --stalls` and `report --metric stall`: how long tasks waited for memory, by task, cgroup,
// call site and kind.
//
// The filter selects a wait by its first event. The rest of the wait counts even if it is outside the time window.
#pragma once

#include <memory>

#include "analysis/report/report.hpp"
#include "results/report/stalls.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// True if the trace can contain events of stalls.
bool has_stall_types(const TraceInfo& info);

class StallsAnalysis {
 public:
  // Uses only the filter, keys, caller, tasks and tree of `request`. Without keys, the result has no `groups`. `info`,
  // `symbols` and the tasks must outlive the analysis. Keeps the `longest` longest waits; 0: all.
  StallsAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request, std::size_t longest);
  ~StallsAnalysis();
  // Returns the names of caches. If allocation events do not name the caches, learn the names before the first event.
  CacheNames& cache_names();
  void add(const EventBatch& batch);
  // Returns the result. Call this function after the source has ended.
  StallsResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
