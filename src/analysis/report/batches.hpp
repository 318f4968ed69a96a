// SPDX-License-Identifier: GPL-2.0-or-later
// Batches of events on their way through the stages of several reports.
#pragma once

#include <span>
#include <vector>

#include "analysis/matching/shared_matching.hpp"
#include "analysis/report/report.hpp"
#include "trace/source.hpp"

namespace kmt {

struct ReportBatch {
  std::vector<MatchedBatch> matched;  // one for each group of reports that select the same events
  std::vector<BatchOrigins> origins;  // one for each report
};

// Runs the stages of several reports. Reports that select the same events share a matching.
class AnalysisStages {
 public:
  // The analyses must outlive this object.
  explicit AnalysisStages(std::span<ReportAnalysis* const> analyses);

  ReportBatch make_batch() const;
  // Returns false if the source has ended.
  bool read(Source& source, ReportBatch& batch) const;
  // Number of stages, at least 2. The last stage of each report is a separate stage, so that these run in parallel.
  std::size_t size() const { return ReportAnalysis::kStages - 1 + analyses_.size(); }
  void run(std::size_t stage, ReportBatch& batch);

 private:
  struct Group {
    std::vector<std::size_t> members;  // indices into analyses_
    SharedMatching shared;             // only used if there are several members
  };

  std::span<ReportAnalysis* const> analyses_;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // index: report
};

// Runs all stages on one batch after the other.
void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses);

}  // namespace kmt
