// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a trace for `report`: counts, matching of allocations and frees, call sites, page orders.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/report.hpp"
#include "trace/source.hpp"
#include "trace/symbol_names.hpp"

namespace kmt {

// A filter selects allocations by where and by whom they were made; a matched free belongs to its allocation,
// whoever frees it, an unmatched one to who freed. The time window comes first: outside of it nothing is seen.
struct ReportFilter {
  std::optional<std::uint64_t> from_ns;  // on the trace's clock, inclusive
  std::optional<std::uint64_t> to_ns;    // exclusive
  std::set<unsigned> cpus;               // empty: all
  std::set<std::int32_t> pids;           // thread ids; empty: all
  std::vector<std::string> comms;        // globs; empty: all
};

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
