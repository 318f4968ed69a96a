// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of events on their way through the stages of analyses.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

// One batch of events, with a copy for each analysis.
using Batches = std::vector<MatchedBatch>;

// Runs the stages of several analyses. Analyses that select the same events share a matching.
class AnalysisStages {
 public:
  // The analyses must outlive this object. Keep all of them until finish() was called for each.
  explicit AnalysisStages(std::span<ReportAnalysis* const> analyses);

  void run(unsigned stage, Batches& batches);

 private:
  struct Group {
    std::vector<std::size_t> members;        // indices into analyses_
    std::shared_ptr<SharedMatching> shared;  // null if the group has one member
  };
  void run(unsigned stage, const Group& group, Batches& batches);

  std::span<ReportAnalysis* const> analyses_;
  std::vector<Group> groups_;
};

// Returns false if the source has ended.
bool read_batches(Source& source, Batches& batches);

// Runs all stages on one batch after the other.
void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses);

}  // namespace kmt
