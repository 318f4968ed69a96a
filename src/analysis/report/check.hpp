// SPDX-License-Identifier: GPL-2.0-or-later
// Checks a trace in one pass. Finds all imperfections in trace/imperfections.def that events can show.
#pragma once

#include <memory>

#include "results/report/check.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/source.hpp"

namespace kmt {

class CheckAnalysis {
 public:
  // If `pairs` is false, allocations are not matched with frees. If there are no symbol names, the result contains
  // addresses, and the only anomalies that count as explained are frees of objects from before the trace. Both
  // references must outlive this object.
  explicit CheckAnalysis(const TraceInfo& info, bool pairs = true, const SymbolNames* names = nullptr);
  ~CheckAnalysis();
  void add(const EventBatch& batch);
  CheckResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
