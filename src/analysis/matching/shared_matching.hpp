// SPDX-License-Identifier: GPL-2.0-or-later
// Lets several reports of a trace share one matching, if they select the same events. The matching stores one number
// with each live allocation. The number identifies the allocation's origins in all of these reports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "base/intern_table.hpp"

namespace kmt {

// join() and split() may run at the same time for different batches.
class SharedMatching {
 public:
  // All functions take the batches of the reports in the same order. All batches contain the same events.

  // Call this function between Classifier::classify() and Matching::match(). Replaces the origin of each allocation in
  // the first batch by a number that identifies its origins in all reports. Only the first batch is then matched.
  void join(std::span<MatchedBatch* const> batches);
  // Call this function after Matching::match(). Gives each report the result of the matching, with its own origins.
  void split(std::span<MatchedBatch* const> batches);

  // Returns the origin of a live allocation in a report. Call this function after the last split().
  std::uint32_t origin_in(std::size_t report, std::uint32_t number) const { return origins_[number][report]; }

 private:
  InternTable<SharedOrigins> numbers_;                      // only join() uses it; the ID is the number minus 1
  std::vector<SharedOrigins> origins_ = {SharedOrigins{}};  // only split() changes it; index: number; 0 means "none"
};

// The live allocations of a matching, with their origins in one report.
struct LiveAllocations {
  const Matching* matching = nullptr;
  const SharedMatching* shared = nullptr;  // null: no other report shares the matching
  std::size_t report = 0;

  // Like Matching::for_each_live().
  template <typename Visit>
  void for_each(Visit&& visit) const {
    matching->for_each_live(
        [&](Allocator allocator, std::uint32_t number, std::uint64_t began_ns, std::uint64_t pages, bool head) {
          visit(allocator, shared == nullptr ? number : shared->origin_in(report, number), began_ns, pages, head);
        });
  }
};

}  // namespace kmt
