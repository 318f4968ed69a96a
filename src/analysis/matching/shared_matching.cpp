// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/shared_matching.hpp"

namespace kmt {

void SharedMatching::join(MatchedBatch& batch, std::span<BatchOrigins* const> reports) {
  for (std::size_t report = 0; report < reports.size(); ++report) {
    std::vector<Origin>& added = reports[report]->new_origins;
    origins_[report].insert(origins_[report].end(), added.begin(), added.end());
    added.clear();
  }
  for (std::size_t i = 0; i < batch.steps.size(); ++i) {
    Step& step = batch.steps[i];
    if (step.origin == 0) continue;
    Numbers numbers{step.origin};
    for (std::size_t report = 1; report < reports.size(); ++report) numbers[report] = reports[report]->of_events[i];
    const auto [id, is_new] = numbers_.id_of(numbers);
    step.origin = id + 1;
    if (!is_new) continue;
    for (std::size_t report = 0; report < reports.size(); ++report)
      reports[report]->new_origins.push_back(origins_[report][numbers[report] - 1]);
  }
}

}  // namespace kmt
