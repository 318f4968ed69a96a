// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/calls_alongside.hpp"

#include <utility>

#include "cli/input/call_result.hpp"

namespace kmt {

namespace {

CallGraphRequest typed(CallGraphRequest request, const CallTypeSource& types) {
  request.signatures = types.signatures();
  return request;
}

}  // namespace

CallsAlongside::CallsAlongside(OpenedTrace& trace, CallGraphRequest request, const std::string& btf)
    : trace_(trace),
      types_(trace.info(), btf),
      graph_(trace.info(), trace.names(), typed(std::move(request), types_)),
      events_(trace.info(), trace.names(), request_, graph_) {}

bool CallsAlongside::read(EventBatch& batch) {
  if (!trace_.source().read(batch)) return false;
  copy_ = batch;
  events_.add(copy_);
  return true;
}

CallGraphResult CallsAlongside::finish(bool complete) {
  events_.finish(complete);
  return take_calls(graph_, trace_, types_);
}

}  // namespace kmt
