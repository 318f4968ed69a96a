// SPDX-License-Identifier: GPL-2.0-or-later
// Lets several reports of a trace share one matching, if they select the same events. Allocations whose origins are
// equal in each of these reports have one number. The number is the origin of the allocation for the matching, and in
// all of these reports.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "analysis/matching/recent_origins.hpp"
#include "analysis/matching/task_rows.hpp"
#include "base/intern_table.hpp"

namespace kmt {

class SharedMatching {
 public:
  static constexpr std::size_t kMostReports = 8;

  // Adds a report. The classifier must outlive this object.
  void add(Classifier& report);
  // Call this function after Classifier::classify() for the first report. `reports` are the origins of the reports, in
  // the order of add(). Finds the origins for the other reports. Renumbers the origins in the batch and in each report.
  void find_origins(MatchedBatch& batch, std::span<BatchOrigins* const> reports);

 private:
  using Numbers = std::array<std::uint32_t, kMostReports>;  // an allocation's own origin in each report

  RecentOrigins::Key key_of(const Event& event) const;
  std::uint32_t number_of(const Event& event, std::uint32_t origin_in_first);
  void take_new_origins(std::span<BatchOrigins* const> reports);

  std::vector<Classifier*> reports_;
  bool repeats_ = true;  // true: events with equal keys have the same number
  bool by_cpu_ = false;
  // Index: position in TaskRows::kKeys; value: a report whose origins depend on this key; null: none.
  std::array<Grouping*, TaskRows::kKeys.size()> by_task_{};
  RecentOrigins recent_;           // numbers of recent allocations
  InternTable<Numbers> numbers_;   // the ID is the common number minus 1
  std::size_t known_numbers_ = 0;  // how many numbers the reports know
  // index: report, and the number of the report's own origin minus 1
  std::array<std::vector<Origin>, kMostReports> origins_;
};

}  // namespace kmt
