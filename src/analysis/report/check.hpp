// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a trace for `check`: every rule of trace/imperfections.def that events can break.
#pragma once

#include <memory>

#include "results/report/check.hpp"
#include "trace/source.hpp"

namespace kmt {

class CheckAnalysis {
 public:
  // Without pairs each event is judged by itself.
  explicit CheckAnalysis(const TraceInfo& info, bool pairs = true);
  ~CheckAnalysis();
  void add(const EventBatch& batch);
  CheckResult finish(bool complete = true);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
