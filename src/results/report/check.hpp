// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `check` for one file.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

// The kinds of reported numbers that an imperfection makes wrong or uncertain. The most important kinds are first.
enum class AffectedNumbers : std::uint8_t { totals, live, lifetimes, times, groups, nothing };
inline constexpr std::array<std::string_view, 6> kAffectedNumberIds = {"totals", "live",   "lifetimes",
                                                                       "times",  "groups", "nothing"};

AffectedNumbers affected_by(Imperfection kind);

struct CheckResult {
  TraceSummary trace;
  // Findings of the reader and of the check, with CPU, file offset and time if known.
  Findings findings;
  ExplainedAnomalies explained;           // counts of those `findings` that have a known cause
  LiveCount live;                         // live allocations at the end of the trace, without pages
  LiveCount maybe_freed;                  // those live allocations that the kernel may have freed without an event
  std::vector<AffectedNumbers> affected;  // kinds of numbers that are wrong or uncertain, the most important first
  bool sound = true;                      // true if no reported number is wrong or uncertain
};

}  // namespace kmt
