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
#include "base/intern_table.hpp"

namespace kmt {

class SharedMatching {
 public:
  static constexpr std::size_t kMostReports = 8;

  // Call this function after Classifier::classify() for the first report and find_origins() for all others. `reports`
  // are the origins of the reports, always in the same order. Renumbers the origins in the batch and in each
  // report.
  void join(MatchedBatch& batch, std::span<BatchOrigins* const> reports);

 private:
  using Numbers = std::array<std::uint32_t, kMostReports>;  // an allocation's own origin in each report

  InternTable<Numbers> numbers_;  // the ID is the common number minus 1
  // index: report, and the number of the report's own origin minus 1
  std::array<std::vector<Origin>, kMostReports> origins_;
};

}  // namespace kmt
