// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/shared_matching.hpp"

#include <algorithm>

namespace kmt {

void SharedMatching::add(Classifier& report) {
  Grouping& grouping = report.grouping();
  reports_.push_back(&report);
  repeats_ = repeats_ && grouping.repeats() && grouping.has_rows_like(reports_.front()->grouping());
  by_cpu_ = by_cpu_ || grouping.by_cpu();
  for (std::size_t key = 0; key < by_task_.size(); ++key)
    if (std::ranges::find(grouping.task_keys(), TaskRows::kKeys[key]) != grouping.task_keys().end())
      by_task_[key] = &grouping;
}

RecentOrigins::Key SharedMatching::key_of(const Event& event) const {
  RecentOrigins::Key key{shape_of(event), {}, by_cpu_ ? event.cpu : 0u};
  for (std::size_t i = 0; i < by_task_.size(); ++i)
    if (by_task_[i] != nullptr) key.tasks[i] = by_task_[i]->task_row(TaskRows::kKeys[i], event);
  return key;
}

std::uint32_t SharedMatching::number_of(const Event& event, std::uint32_t origin_in_first) {
  Numbers numbers{origin_in_first};
  for (std::size_t report = 1; report < reports_.size(); ++report)
    numbers[report] = reports_[report]->grouping().origin_of(event);
  return numbers_.id_of(numbers).first + 1;
}

void SharedMatching::find_origins(MatchedBatch& batch, std::span<BatchOrigins* const> reports) {
  bool learns = false;
  for (Classifier* const other : std::span(reports_).subspan(1)) {
    if (!other->begin_batch(batch.events)) recent_.forget();
    learns = learns || other->grouping().learns_from_events();
  }
  for (std::size_t i = 0; i < batch.steps.size(); ++i) {
    const Event& event = batch.events[i];
    std::uint32_t& origin = batch.steps[i].origin;
    if (learns)
      for (Classifier* const other : std::span(reports_).subspan(1)) other->grouping().see(event);
    if (origin == 0) continue;
    if (!repeats_) {
      origin = number_of(event, origin);
      continue;
    }
    std::uint32_t& known = recent_.of(key_of(event));
    if (known == 0) known = number_of(event, origin);
    origin = known;
  }
  for (std::size_t report = 1; report < reports.size(); ++report)
    reports_[report]->end_batch(batch.events, *reports[report]);
  take_new_origins(reports);
}

// Replaces each report's own new origins with the origins of the new common numbers.
void SharedMatching::take_new_origins(std::span<BatchOrigins* const> reports) {
  for (std::size_t report = 0; report < reports.size(); ++report) {
    std::vector<Origin>& added = reports[report]->new_origins;
    origins_[report].insert(origins_[report].end(), added.begin(), added.end());
    added.clear();
    for (std::size_t id = known_numbers_; id < numbers_.size(); ++id)
      added.push_back(origins_[report][numbers_[static_cast<std::uint32_t>(id)][report] - 1]);
  }
  known_numbers_ = numbers_.size();
}

}  // namespace kmt
