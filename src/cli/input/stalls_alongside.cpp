// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/stalls_alongside.hpp"

namespace kmt {

StallsAlongside::StallsAlongside(Source& source, const OpenedTrace& trace, const StallsRequest& question)
    : source_(source), analysis_(trace.info(), trace.names(), question.request, question.longest) {}

bool StallsAlongside::read(EventBatch& batch) {
  if (!source_.read(batch)) return false;
  recorded_ = recorded_ || has_stall_types(info());
  if (recorded_) analysis_.add(batch);
  return true;
}

std::optional<StallsResult> StallsAlongside::finish(bool complete) {
  return recorded_ ? std::optional(analysis_.finish(complete)) : std::nullopt;
}

}  // namespace kmt
