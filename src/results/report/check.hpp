// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `check` for one file.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "results/report/report.hpp"

namespace kmt {

// The reported numbers that an imperfection makes wrong or uncertain, from the worst to the least.
enum class AffectedNumbers : std::uint8_t { totals, live, lifetimes, times, groups, nothing };
inline constexpr std::array<std::string_view, 6> kAffectedNumberIds = {"totals", "live",   "lifetimes",
                                                                       "times",  "groups", "nothing"};

AffectedNumbers affected_by(Imperfection kind);

struct CheckResult {
  TraceSummary trace;
  Findings findings;                      // findings of the reader and of the check, with cpu, offset and time if known
  ExplainedAnomalies explained;           // the part of `findings` with a known cause
  std::vector<AffectedNumbers> affected;  // the worst first
  bool sound = true;                      // `affected` is empty
};

}  // namespace kmt
