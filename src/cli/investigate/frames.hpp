// SPDX-License-Identifier: GPL-2.0-or-later
// Counts page frames at the start and at the end of an investigation.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "results/growth/investigation.hpp"
#include "results/snapshot/page_census.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

class WatchedFrames {
 public:
  // Counts the frames if this costs little of the CPU budget. If unaccounted memory is large, it may cost more. Adds
  // the counts to `sample`.
  void begin(const SnapshotResult& before, StateSample& sample, const InvestigationPlan& plan,
             std::vector<UnseenSource>& unseen);
  // Counts the frames again if they were counted at the start. Adds the counts to `sample`.
  void end(const SnapshotResult& after, StateSample& sample, std::vector<UnseenSource>& unseen);

  double cpu_seconds_to_end() const { return before_ ? cpu_seconds_ : 0; }
  const std::shared_ptr<const PageCensus>& last() const { return after_; }  // null if they were not counted twice
  std::optional<CensusChange> change(const SnapshotResult& after) const;

 private:
  std::shared_ptr<const PageCensus> before_;
  std::shared_ptr<const PageCensus> after_;
  double cpu_seconds_ = 0;  // CPU time of one census
};

}  // namespace kmt
