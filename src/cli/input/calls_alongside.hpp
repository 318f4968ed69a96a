// SPDX-License-Identifier: GPL-2.0-or-later
// A source that passes each event both to a call graph and to another analysis.
#pragma once

#include <string>

#include "analysis/calls/graph.hpp"
#include "analysis/report/event_stream.hpp"
#include "cli/input/analyse.hpp"
#include "symbols/call_type_source.hpp"

namespace kmt {

class CallsAlongside : public Source {
 public:
  // `trace` must outlive this object. The types are from the trace or from the file `btf`, as in CallTypeSource.
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
  ReportRequest request_;  // selects all events, because tasks free memory of other tasks
  EventStream events_;
  EventBatch copy_;
};

}  // namespace kmt
