// SPDX-License-Identifier: GPL-2.0-or-later
// Checks a trace in one pass for all imperfections in trace/imperfections.def that events can show.
#pragma once

#include <memory>

#include "results/report/check.hpp"
#include "trace/source.hpp"

namespace kmt {

class CheckAnalysis {
 public:
  // If `pairs` is false, each event is checked by itself.
  explicit CheckAnalysis(const TraceInfo& info, bool pairs = true);
  ~CheckAnalysis();
  void add(const EventBatch& batch);
  CheckResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
