// SPDX-License-Identifier: GPL-2.0-or-later
// The result of `leaks`: memory that is live at the end of a trace, by its growth. The definitions are those of
// docs/formats/leaks-json.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/report/report.hpp"
#include "results/series/trend.hpp"

namespace kmt {

enum class LeakVerdict : std::uint8_t {
  no_clock,   // the trace's clock does not count nanoseconds
  too_short,  // too few values, or less than a second, since the first allocation
  no_growth,  // not more than what comes and goes at random may do
  past,       // it grew, but hardly in the last half
  unsure,     // it grows, perhaps not above the threshold
  uneven,     // it grows above the threshold, but that could be chance, given the number of groups
  uncertain,  // it grows above the threshold, but what carries it may be freed
  certain,    // it grows above the threshold, and what is certainly live carries that alone
};
struct LeakVerdictText {
  std::string_view id;
  std::string_view sentence;
};
const LeakVerdictText& describe(LeakVerdict verdict);
std::vector<LeakVerdictText> leak_verdicts();  // the surest first

struct LeakRow {
  GroupRow group;  // with its history
  Trend trend;     // of its live bytes, from its first allocation on
  Trend certain;   // of them without the doubtful ones, which count as freed at once
  LeakVerdict verdict = LeakVerdict::too_short;
  LiveCount doubtful;
  std::optional<Doubt> main_doubt;  // of most of the doubtful bytes
  // At most 25 % too high.
  std::uint64_t median_age_ns() const {
    return std::min(group.history->ages.percentile_ns(50), group.history->oldest_ns);
  }
  std::uint64_t certain_bytes() const {
    return group.live_bytes > doubtful.bytes ? group.live_bytes - doubtful.bytes : 0;
  }
};

struct LeakTable {
  Allocator allocator = Allocator::slab;
  bool whole = false;             // one row that is the whole allocator: none of the keys applies to it
  std::vector<LeakRow> rows;      // with live allocations; unsorted
  std::uint64_t older_frees = 0;  // of what was allocated before the trace
};

struct LeaksResult {
  TraceSummary trace;
  std::vector<GroupKey> by;
  double threshold_bytes_per_s = 0;
  double confidence_needed = 0;          // of evenness, for certain growth: the more groups are judged, the more
  std::size_t judged = 0;                // groups
  std::size_t groups_not_followed = 0;   // they may grow, too
  std::uint64_t bytes_not_followed = 0;  // live in them
  TimeAxis axis;
  std::uint64_t lost_until_ns = 0;
  std::vector<Imperfection> incomplete;
  std::vector<LeakTable> tables;
  std::optional<std::uint64_t> older_lived;  // slab objects when the trace began, as far as its samples tell
  std::vector<std::pair<std::string, std::uint64_t>> anomalies;
  Findings findings;

  bool found() const;  // certain growth
};

std::span<const Column<LeakRow>> leak_columns();
const Column<LeakRow>* find_leak_column(std::string_view key);
// The largest first, rows without a value last; among equals by live bytes, then by name. By verdict the surest first,
// then the fastest, of those whose growth is certain by what is certain of it.
std::vector<const LeakRow*> sorted_leaks(const std::vector<LeakRow>& rows, const Column<LeakRow>& by);

}  // namespace kmt
