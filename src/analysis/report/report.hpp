// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the data of `report` in one pass over a trace: counts, matched allocations and frees, and the sums of each
// group.
//
// A filter selects allocations by call site, task and properties. A matched free is selected with its allocation. An
// unmatched free is selected by the freeing task. The time window is applied first: events outside it are ignored.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "results/report/report.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/source.hpp"

namespace kmt {

struct ReportRequest {
  ReportFilter filter;
  std::vector<GroupKey> by = {GroupKey::call_site};
  FindCaller find_caller;  // only needed for GroupKey::caller
  // Names and thread groups of all tasks, from an earlier pass over the trace. If null, only the names that were read
  // so far are known.
  const TraceTasks* tasks = nullptr;
  // True: allocations by interrupts count for the interrupted task, as in perf.
  bool with_interrupted = false;
  // True: an allocation reported by two events counts twice. Must not be set together with `traffic`.
  bool count_duplicates = false;
  // For GroupKey::process. True: memory of child processes counts for an ancestor from before the trace (see Grouping).
  bool tree = false;
  // True: fill ReportResult::histories. Not possible with keys that are only known when an allocation is freed.
  bool history = false;
  // True: fill ReportResult::traffic. Not possible with keys that are only known when an allocation is freed.
  bool traffic = false;
  // The choice of groups with a history if there are too many groups. True: groups that are live and may grow. False:
  // the groups with the highest peaks.
  bool history_of_live = false;
  // Only with `history`. True: treat reclaimable memory like other memory, without Doubt::reclaimable.
  bool judges_reclaimable = false;
  // Only with `history`. True: if the end of the file is missing, stop at the first time at which the events of a CPU
  // end. Until then, nothing is missing. No effect if `filter` has an end.
  bool until_cut = false;
  bool holders = false;  // only with `history`; true: fill GroupHistory::holders
  // True: fill ReportResult::most_live. Not possible with keys that are only known when an allocation is freed.
  bool most_live = false;
  // Set: fill GroupRow::window. Not possible with keys that are only known when an allocation is freed.
  std::optional<TimeWindow> window;
  bool names_unknown_owners = false;  // true: code of an unknown module, subsystem or directory is grouped by function
  bool live_pages = false;            // true: fill ReportResult::live_pages
};

class ReportAnalysis {
 public:
  // `info` and `symbols` must outlive the analysis. They may grow between batches.
  ReportAnalysis(const TraceInfo& info, const SymbolNames& symbols, ReportRequest request);
  ~ReportAnalysis();

  // Returns the names of caches. If needs_cache_names() is true, learn the names before the first event.
  CacheNames& cache_names();

  // Each batch passes through all stages, and each stage handles the batches in order. Stages of different batches may
  // run at the same time. The first stage must not run while the source is reading, because both use the tables of the
  // trace.
  static constexpr unsigned kStages = kUnits + 2;
  void run_stage(unsigned stage, MatchedBatch& batch, BatchOrigins& origins);

  // True if both reports select the same events. They can then share a matching.
  bool selects_like(const ReportAnalysis& other) const;
  // Uses the matching and the totals of `first`, which must outlive this object. Do not run the first
  // stage: SharedMatching finds the origins. Then run only the last stage.
  void share_matching(const ReportAnalysis& first);
  Classifier& classifier();

  // Runs all stages one after the other.
  void add(const EventBatch& batch);
  // Returns the report. Call this function after the source has ended. `complete` is false if reading was interrupted.
  // The report then covers only the events that were read.
  ReportResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// True if the trace has to be read twice. If needs_cache_names() is true, the first pass learns the names of slab
// caches from frees. If needs_task_names() is true, it learns former names of tasks from rename events.
bool needs_cache_names(const ReportRequest& request);
bool needs_task_names(const ReportRequest& request, const TraceInfo& info);

}  // namespace kmt
