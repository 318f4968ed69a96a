// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of `report` in one pass over a trace: counts, matched allocations and frees, and the sums of each
// group.
//
// A filter selects allocations by call site, task and properties. A matched free is selected with its allocation, an
// unmatched free by the freeing task. The time window is applied first: events outside it are ignored.
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
  // Names and thread groups of tasks after the whole trace was read. If null, the data read so far is used.
  const TraceTasks* tasks = nullptr;
  // Allocations by interrupts count for the interrupted task, as in perf.
  bool with_interrupted = false;
  bool count_duplicates = false;  // an allocation reported by two events counts twice; not with `traffic`
  bool tree = false;              // GroupKey::process: children count for their oldest ancestor, see Grouping
  bool history = false;           // fill ReportResult::histories; not with keys that are known when freed
  bool traffic = false;           // fill ReportResult::traffic; likewise
  // If there are too many groups, follow live groups that may grow instead of the highest peaks.
  bool history_of_live = false;
  bool judges_reclaimable = false;  // with `history`: Doubt::reclaimable does not occur
  bool holders = false;             // with `history`: fill GroupHistory::holders
  bool most_live = false;           // fill ReportResult::most_live; not with keys that are known when freed
};

class ReportAnalysis {
 public:
  // `info` and `symbols` must outlive the analysis. They may grow between batches.
  ReportAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request);
  ~ReportAnalysis();

  // Fill this before the first event; see needs_cache_names().
  CacheNames& cache_names();

  // Each batch passes through all stages, and each stage handles the batches in order. Stages of different batches may
  // run at the same time. The first stage must not run while the source is reading, because it uses the tables of the
  // trace.
  static constexpr unsigned kStages = kUnits + 2;
  void run_stage(unsigned stage, MatchedBatch& batch);

  // Runs all stages one after the other.
  void add(const EventBatch& batch);
  // Call this after the source has ended. `complete` is false if reading was interrupted; the result then covers the
  // part that was read.
  ReportResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the trace has to be read twice. The first pass learns the names of slab caches from frees, or former names of
// tasks from renamings.
bool needs_cache_names(const ReportRequest& request);
bool needs_task_names(const ReportRequest& request, const TraceInfo& info);

}  // namespace kmt
