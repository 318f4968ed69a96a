// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/batches.hpp"

#include <algorithm>

namespace kmt {

AnalysisStages::AnalysisStages(std::span<ReportAnalysis* const> analyses) : analyses_(analyses) {
  for (std::size_t i = 0; i < analyses.size(); ++i) {
    const auto same = std::ranges::find_if(groups_, [&](const Group& group) {
      return group.members.size() < SharedMatching::kMostReports &&
             analyses[i]->selects_like(*analyses[group.members[0]]);
    });
    if (same != groups_.end()) analyses[i]->share_matching(*analyses[same->members[0]]);
    (same == groups_.end() ? groups_.emplace_back() : *same).members.push_back(i);
  }
}

ReportBatch AnalysisStages::make_batch() const {
  return {std::vector<MatchedBatch>(groups_.size()), std::vector<BatchOrigins>(analyses_.size())};
}

bool AnalysisStages::read(Source& source, ReportBatch& batch) const {
  EventBatch& events = batch.matched.front().events;
  if (!source.read(events)) return false;
  // Matching changes events, so each matching needs its own.
  for (std::size_t group = 1; group < batch.matched.size(); ++group) batch.matched[group].events = events;
  return true;
}

void AnalysisStages::run(unsigned stage, ReportBatch& batch) {
  for (std::size_t group = 0; group < groups_.size(); ++group)
    run(stage, groups_[group], batch.matched[group], batch.origins);
}

void AnalysisStages::run(unsigned stage, Group& group, MatchedBatch& batch, std::vector<BatchOrigins>& origins) {
  const std::size_t first = group.members.front();
  if (stage + 1 == ReportAnalysis::kStages) {
    for (const std::size_t member : group.members) analyses_[member]->run_stage(stage, batch, origins[member]);
    return;
  }
  analyses_[first]->run_stage(stage, batch, origins[first]);
  if (stage > 0 || group.members.size() == 1) return;
  std::vector<BatchOrigins*> of_group;
  for (const std::size_t member : group.members) {
    if (member != first) analyses_[member]->find_origins(batch, origins[member]);
    of_group.push_back(&origins[member]);
  }
  group.shared.join(batch, of_group);
}

void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses) {
  AnalysisStages stages(analyses);
  ReportBatch batch = stages.make_batch();
  while (stages.read(source, batch))
    for (unsigned stage = 0; stage < ReportAnalysis::kStages; ++stage) stages.run(stage, batch);
}

}  // namespace kmt
