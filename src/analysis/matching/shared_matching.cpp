// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/shared_matching.hpp"

namespace kmt {

void SharedMatching::join(std::span<MatchedBatch* const> batches) {
  MatchedBatch& first = *batches.front();
  first.new_shared_origins.clear();
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    if (first.steps[i].origin == 0) continue;
    SharedOrigins origins{};
    for (std::size_t report = 0; report < batches.size(); ++report) origins[report] = batches[report]->steps[i].origin;
    const auto [id, is_new] = numbers_.id_of(origins);
    if (is_new) first.new_shared_origins.push_back(origins);
    first.steps[i].origin = id + 1;
  }
}

void SharedMatching::split(std::span<MatchedBatch* const> batches) {
  const MatchedBatch& first = *batches.front();
  origins_.insert(origins_.end(), first.new_shared_origins.begin(), first.new_shared_origins.end());
  // Change the first batch last, because all others are copied from it.
  for (std::size_t report = batches.size(); report-- > 0;) {
    MatchedBatch& batch = *batches[report];
    if (report > 0) {
      batch.steps = first.steps;
      batch.pages = first.pages;
      for (const std::uint32_t index : first.queues[kSlabUnits]) batch.events[index].kind = first.events[index].kind;
    }
    for (Step& step : batch.steps) {
      step.origin = origin_in(report, step.origin);
      step.replaced = origin_in(report, step.replaced);
    }
    for (PagesTaken& pages : batch.pages) pages.origin = origin_in(report, pages.origin);
  }
}

}  // namespace kmt
