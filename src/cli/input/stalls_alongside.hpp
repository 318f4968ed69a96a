// SPDX-License-Identifier: GPL-2.0-or-later
// A source that also passes each event to an analysis of stalls, if the trace can contain events of stalls.
#pragma once

#include "analysis/stalls/stalls.hpp"
#include "cli/input/analyse.hpp"

namespace kmt {

class StallsAlongside : public Source {
 public:
  // `source` and `trace` must outlive this object. `question` selects the stalls.
  StallsAlongside(Source& source, const OpenedTrace& trace, const StallsRequest& question);

  const TraceInfo& info() const override { return source_.info(); }
  TraceInfo& info() override { return source_.info(); }
  bool read(EventBatch& batch) override;
  double progress() const override { return source_.progress(); }

  // Returns the names of caches. If allocation events do not name the caches, learn the names before the first event.
  CacheNames& cache_names() { return analysis_.cache_names(); }
  // Returns the result. Empty if the trace cannot contain events of stalls. Call this once, after the last event.
  std::optional<StallsResult> finish(bool complete);

 private:
  Source& source_;
  StallsAnalysis analysis_;
  bool recorded_ = false;
};

}  // namespace kmt
