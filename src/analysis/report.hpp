// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a trace for `report`: counts, matching of allocations and frees, call sites, page orders.
//
// A filter selects allocations by where and by whom they were made; a matched free belongs to its allocation, whoever
// frees it, an unmatched one to who freed. The time window comes first: outside of it nothing is seen.
#pragma once

#include <memory>

#include "analysis/event_filter.hpp"
#include "results/report.hpp"
#include "trace/source.hpp"
#include "trace/symbol_names.hpp"

namespace kmt {

class ReportAnalysis {
 public:
  // The info must outlive the analysis; its tables may grow between batches.
  ReportAnalysis(const TraceInfo& info, ReportFilter filter);
  ~ReportAnalysis();
  void add(const EventBatch& batch);
  // Call after the source has ended (or was interrupted: the result is that of what was read).
  ReportResult finish(const SymbolNames& symbols);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
