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
    group_of_.push_back(static_cast<std::size_t>(same - groups_.begin()));
    Group& group = same == groups_.end() ? groups_.emplace_back() : *same;
    group.members.push_back(i);
    group.shared.add(analyses[i]->classifier());
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

void AnalysisStages::run(std::size_t stage, ReportBatch& batch) {
  constexpr unsigned kLast = ReportAnalysis::kStages - 1;
  if (stage >= kLast) {
    const std::size_t report = stage - kLast;
    analyses_[report]->run_stage(kLast, batch.matched[group_of_[report]], batch.origins[report]);
    return;
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    const std::size_t first = group.members.front();
    analyses_[first]->run_stage(static_cast<unsigned>(stage), batch.matched[i], batch.origins[first]);
    if (stage > 0 || group.members.size() == 1) continue;
    std::vector<BatchOrigins*> of_group;
    for (const std::size_t member : group.members) of_group.push_back(&batch.origins[member]);
    group.shared.find_origins(batch.matched[i], of_group);
  }
}

void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses) {
  AnalysisStages stages(analyses);
  ReportBatch batch = stages.make_batch();
  while (stages.read(source, batch))
    for (std::size_t stage = 0; stage < stages.size(); ++stage) stages.run(stage, batch);
}

}  // namespace kmt
