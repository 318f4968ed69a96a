// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/report/leaks.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace kmt {

namespace {

Cell of_trend(const Trend& trend, double value) {
  if (trend.growth == Growth::too_few_points) return {};
  return value;
}

Cell given(const LeakRow& row, std::uint64_t bytes) {
  if (!row.group.knows_bytes) return {};
  return bytes;
}

constexpr std::array kLeaksColumns = {
    Column<LeakRow>{"name", "Name", Unit::text, 0,
                    [](const LeakRow& row) { return Cell{std::string_view(row.group.name)}; }, "the group"},
    Column<LeakRow>{"growth", "Growth", Unit::bytes_per_s, 0,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.bytes_per_s); },
                    "how fast its live bytes grow: the median of the slopes between all pairs of 16 stretches of time"},
    Column<LeakRow>{"certain-growth", "For certain", Unit::bytes_per_s, 7,
                    [](const LeakRow& row) { return of_trend(row.certain, row.certain.bytes_per_s); },
                    "the same without what may be freed already"},
    Column<LeakRow>{"confidence", "Sure", Unit::percent, 4,
                    [](const LeakRow& row) { return of_trend(row.trend, 100 * row.trend.confidence); },
                    "probability that random allocation grows less than this"},
    Column<LeakRow>{"low", "At least", Unit::bytes_per_s, 11,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.low); },
                    "the low end of the interval that holds the growth with a confidence of 95 %"},
    Column<LeakRow>{"high", "At most", Unit::bytes_per_s, 12,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.high); }, "its high end"},
    Column<LeakRow>{"late", "Late", Unit::bytes_per_s, 9,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.late_bytes_per_s); },
                    "growth in the last half: much less than before where a cache fills and is full"},
    Column<LeakRow>{"live", "Live", Unit::count, 6, [](const LeakRow& row) { return Cell{row.group.live_allocations}; },
                    "allocations not freed when the trace ends"},
    Column<LeakRow>{"live-bytes", "Bytes", Unit::bytes, 1,
                    [](const LeakRow& row) { return given(row, row.group.live_bytes); }, "their bytes"},
    Column<LeakRow>{"uncertain", "Uncertain", Unit::bytes, 2,
                    [](const LeakRow& row) { return given(row, row.doubtful.bytes); },
                    "of them, bytes that may be freed already"},
    Column<LeakRow>{"certain", "Certain", Unit::bytes, 10,
                    [](const LeakRow& row) { return given(row, row.certain_bytes()); },
                    "of them, bytes without a sign of a missed free"},
    Column<LeakRow>{"oldest", "Oldest", Unit::duration, 7,
                    [](const LeakRow& row) { return Cell{row.group.history->oldest_ns}; },
                    "age of the oldest live allocation"},
    Column<LeakRow>{"median-age", "Median age", Unit::duration, 8,
                    [](const LeakRow& row) { return Cell{row.median_age_ns()}; },
                    "half of the live allocations are no older, at most 25 % too high"},
    Column<LeakRow>{"hits", "Hits", Unit::count, 13, [](const LeakRow& row) { return Cell{row.group.allocations}; },
                    "allocations in the trace"},
    Column<LeakRow>{"reason", "Why", Unit::text, 5,
                    [](const LeakRow& row) { return row.main_doubt ? Cell{describe(*row.main_doubt).word} : Cell{}; },
                    "main reason for the uncertainty"},
    Column<LeakRow>{"verdict", "Verdict", Unit::text, 1,
                    [](const LeakRow& row) { return Cell{describe(row.verdict).id}; },
                    "the verdict on its growth; the surest first, then the fastest"},
};

constexpr std::array<LeakVerdictText, 8> kVerdicts = {
    {{"no-clock", "the trace's clock does not count nanoseconds"},
     {"too-short", "too short a time since its first allocation to say anything"},
     {"no-growth", "not more than what comes and goes at random may do"},
     {"past", "it grew, but hardly in the last half"},
     {"unsure", "it grows, perhaps not above the threshold"},
     {"uneven", "it grows above the threshold, but that could be chance, given the number of groups"},
     {"uncertain", "it grows above the threshold, but what carries it may be freed"},
     {"certain", "it grows above the threshold, and what is certainly live carries that alone"}}};

}  // namespace

const LeakVerdictText& describe(LeakVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::vector<LeakVerdictText> leak_verdicts() { return {kVerdicts.rbegin(), kVerdicts.rend()}; }
bool LeaksResult::found() const {
  return std::any_of(tables.begin(), tables.end(), [](const LeakTable& table) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [](const LeakRow& row) { return row.verdict == LeakVerdict::certain; });
  });
}

std::span<const Column<LeakRow>> leak_columns() { return kLeaksColumns; }

const Column<LeakRow>* find_leak_column(std::string_view key) {
  const auto found =
      std::find_if(kLeaksColumns.begin(), kLeaksColumns.end(), [key](const auto& column) { return column.key == key; });
  return found == kLeaksColumns.end() ? nullptr : &*found;
}

std::vector<const LeakRow*> sorted_leaks(const std::vector<LeakRow>& rows, const Column<LeakRow>& by) {
  if (by.key == "verdict") {
    std::vector<const LeakRow*> sorted = sorted_leaks(rows, *find_leak_column("growth"));
    std::ranges::stable_sort(sorted, [](const LeakRow* a, const LeakRow* b) {
      if (a->verdict != b->verdict) return a->verdict > b->verdict;
      return a->verdict == LeakVerdict::certain && a->certain.bytes_per_s > b->certain.bytes_per_s;
    });
    return sorted;
  }
  return sorted_by_column(rows, by, [](const LeakRow& a, const LeakRow& b) {
    return std::tie(b.group.live_bytes, a.group.name) < std::tie(a.group.live_bytes, b.group.name);
  });
}

}  // namespace kmt
