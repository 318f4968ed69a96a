// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/batches.hpp"

#include <algorithm>

namespace kmt {

AnalysisStages::AnalysisStages(std::span<ReportAnalysis* const> analyses) : analyses_(analyses) {
  for (std::size_t i = 0; i < analyses.size(); ++i) {
    const auto same = std::ranges::find_if(groups_, [&](const Group& group) {
      return group.members.size() < SharedOrigins{}.size() && analyses[i]->selects_like(*analyses[group.members[0]]);
    });
    (same == groups_.end() ? groups_.emplace_back() : *same).members.push_back(i);
  }
  for (Group& group : groups_) {
    if (group.members.size() == 1) continue;
    group.shared = std::make_shared<SharedMatching>();
    for (std::size_t report = 0; report < group.members.size(); ++report)
      analyses[group.members[report]]->share_matching(*analyses[group.members[0]], group.shared, report);
  }
}

void AnalysisStages::run(unsigned stage, Batches& batches) {
  for (const Group& group : groups_) run(stage, group, batches);
}

void AnalysisStages::run(unsigned stage, const Group& group, Batches& batches) {
  const bool classifies = stage == 0;
  const bool counts = stage + 1 == ReportAnalysis::kStages;
  if (!classifies && !counts) return analyses_[group.members[0]]->run_stage(stage, batches[group.members[0]]);

  std::vector<MatchedBatch*> of_group;
  for (const std::size_t member : group.members) of_group.push_back(&batches[member]);
  if (counts && group.shared) group.shared->split(of_group);
  for (const std::size_t member : group.members) analyses_[member]->run_stage(stage, batches[member]);
  if (classifies && group.shared) group.shared->join(of_group);
}

bool read_batches(Source& source, Batches& batches) {
  if (!source.read(batches.front().events)) return false;
  for (std::size_t i = 1; i < batches.size(); ++i) batches[i].events = batches.front().events;
  return true;
}

void run_in_one_thread(Source& source, std::span<ReportAnalysis* const> analyses) {
  AnalysisStages stages(analyses);
  Batches batches(analyses.size());
  while (read_batches(source, batches))
    for (unsigned stage = 0; stage < ReportAnalysis::kStages; ++stage) stages.run(stage, batches);
}

}  // namespace kmt
