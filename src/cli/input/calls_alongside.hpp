// SPDX-License-Identifier: GPL-2.0-or-later
// A source that passes each event to a call graph and also to another analysis.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "analysis/report/event_stream.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

class CallsAlongside : public Source {
 public:
  // `trace` must outlive this object. The types of calls are read from the trace or from the file `btf` (see
  // CallTypeSource).
  CallsAlongside(OpenedTrace& trace, CallGraphRequest request, const std::string& btf);

  const TraceInfo& info() const override { return trace_.info(); }
  TraceInfo& info() override { return trace_.source().info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return trace_.source().progress(); }

  const CallTypeSource& types() const { return types_; }
  CallGraphResult finish(bool complete);  // call it once, after the last event

 private:
  OpenedTrace& trace_;
  CallTypeSource types_;
  CallGraph graph_;
  ReportRequest request_;  // Selects the events of all tasks, because a task may free memory of another task.
  EventStream events_;
  EventBatch copy_;
};

}  // namespace kmt
