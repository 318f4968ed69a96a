// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a trace for `report`: counts, matching of allocations and frees, what each group of allocations did.
//
// A filter selects allocations by their place, task and properties. A matched free belongs to its allocation, an
// unmatched one to the task that freed. The time window comes first: events outside it are not seen at all.
#pragma once

#include <memory>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "results/report/report.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/source.hpp"

namespace kmt {

struct ReportRequest {
  ReportFilter filter;
  std::vector<GroupKey> by = {GroupKey::call_site};
  FindCaller find_caller;  // for GroupKey::caller
  // Names and thread groups of tasks, from this trace read to its end; null: as far as it has been read.
  const TraceTasks* tasks = nullptr;
  // Allocations by interrupts count for the interrupted task and program, as in perf.
  bool with_interrupted = false;
  bool count_duplicates = false;  // an allocation reported by two events counts twice; not with `traffic`
  bool tree = false;              // GroupKey::process: children belong to whom started them, see Grouping
  bool history = false;           // fill ReportResult::histories; not with GroupKey::lifetime
  bool traffic = false;           // fill ReportResult::traffic; likewise
  bool history_of_live = false;   // if groups are too many, follow live ones that may grow, not the highest peaks
};

class ReportAnalysis {
 public:
  // The info must outlive the analysis; its tables may grow between batches, and so must what names the symbols.
  ReportAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request);
  ~ReportAnalysis();

  // To be filled before the first event; see needs_cache_names().
  CacheNames& cache_names();

  // A batch passes through all stages, each of which takes the batches in their order. Stages of different batches may
  // run at the same time, but the first not while the source reads: it looks things up in the trace's tables.
  static constexpr unsigned kStages = kUnits + 2;
  void run_stage(unsigned stage, MatchedBatch& batch);

  // All stages, one after the other.
  void add(const EventBatch& batch);
  // Call after the source has ended; not `complete`: it was interrupted, and the result is that of what was read.
  ReportResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the trace has to be read once before. Frees then give the names of slab caches, and renamings give the names
// that tasks had before.
bool needs_cache_names(const ReportRequest& request);
bool needs_task_names(const ReportRequest& request, const TraceInfo& info);

}  // namespace kmt
