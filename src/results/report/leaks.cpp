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
                    "growth of the live bytes: the median of the slopes between all pairs of 16 time intervals"},
    Column<LeakRow>{"certain-growth", "For certain", Unit::bytes_per_s, 7,
                    [](const LeakRow& row) { return of_trend(row.certain, row.certain.bytes_per_s); },
                    "growth without memory that may already be freed"},
    Column<LeakRow>{"confidence", "Sure", Unit::percent, 4,
                    [](const LeakRow& row) { return of_trend(row.trend, 100 * row.trend.confidence); },
                    "probability that random allocations and frees grow less than this"},
    Column<LeakRow>{"low", "At least", Unit::bytes_per_s, 11,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.low); },
                    "low end of the 95 % confidence interval of the growth"},
    Column<LeakRow>{"high", "At most", Unit::bytes_per_s, 12,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.high); },
                    "high end of the 95 % confidence interval of the growth"},
    Column<LeakRow>{"late", "Late", Unit::bytes_per_s, 9,
                    [](const LeakRow& row) { return of_trend(row.trend, row.trend.late_bytes_per_s); },
                    "growth in the second half of the time; much lower if a cache has filled up"},
    Column<LeakRow>{"live", "Live", Unit::count, 6, [](const LeakRow& row) { return Cell{row.group.live_allocations}; },
                    "allocations not freed when the trace ends"},
    Column<LeakRow>{"live-bytes", "Bytes", Unit::bytes, 1,
                    [](const LeakRow& row) { return given(row, row.group.live_bytes); }, "bytes of these allocations"},
    Column<LeakRow>{"uncertain", "Uncertain", Unit::bytes, 2,
                    [](const LeakRow& row) { return given(row, row.doubtful.bytes); },
                    "live bytes that may already be freed"},
    Column<LeakRow>{"certain", "Certain", Unit::bytes, 10,
                    [](const LeakRow& row) { return given(row, row.certain_bytes()); },
                    "live bytes without a sign of a missed free"},
    Column<LeakRow>{"oldest", "Oldest", Unit::duration, 7,
                    [](const LeakRow& row) { return Cell{row.group.history->oldest_ns}; },
                    "age of the oldest live allocation"},
    Column<LeakRow>{"median-age", "Median age", Unit::duration, 8,
                    [](const LeakRow& row) { return Cell{row.median_age_ns()}; },
                    "median age of the live allocations; may be up to 25 % too high"},
    Column<LeakRow>{"hits", "Hits", Unit::count, 13, [](const LeakRow& row) { return Cell{row.group.allocations}; },
                    "allocations in the trace"},
    Column<LeakRow>{"reason", "Why", Unit::text, 5,
                    [](const LeakRow& row) { return row.main_doubt ? Cell{describe(*row.main_doubt).word} : Cell{}; },
                    "main reason for the uncertainty"},
    Column<LeakRow>{"verdict", "Verdict", Unit::text, 1,
                    [](const LeakRow& row) { return Cell{describe(row.verdict).id}; },
                    "verdict on the growth; the most certain growth first, then steady growth, then the fastest"},
};

constexpr std::array<LeakVerdictText, 9> kVerdicts = {
    {{"no-clock", "the trace's clock does not count nanoseconds"},
     {"too-short", "the time since the first allocation is too short to judge"},
     {"no-growth", "not more growth than random allocations and frees can cause"},
     {"past", "the group grew, but hardly in the second half of the time"},
     {"explained",
      "the group grows as expected: reclaimable memory, page tables, slab pages or memory of tracing tools"},
     {"unsure", "the group grows, but perhaps not above the threshold, or only in a few steps"},
     {"uneven", "the group grows above the threshold, but with this number of groups that could be chance"},
     {"uncertain", "the group grows above the threshold, but the growing memory may already be freed"},
     {"certain", "the group grows above the threshold, even if only certainly live memory counts"}}};

// True if a part of the recording is missing. Lost events alone do not count: a few lost frees can only add apparent
// growth, so a trace without growth remains valid.
bool lacks_part(const LeaksResult& result) {
  return std::ranges::any_of(result.incomplete, [](Imperfection kind) {
    return kind != Imperfection::lost_events && kind != Imperfection::unknown_loss;
  });
}

// True if less than half of the recorded time in the file was judged.
bool is_mostly_after_cut(const LeaksResult& result) {
  return result.cut_at_ns && 2 * (result.axis.end_ns - result.axis.start_ns) < result.trace.whole_ns;
}

// True if memory grows and its frees may be missing in the trace.
bool growth_may_be_missing_events(const LeaksResult& result) {
  return std::ranges::any_of(result.tables, [](const LeakTable& table) {
    return std::ranges::any_of(table.rows, [](const LeakRow& row) {
      return row.verdict == LeakVerdict::uncertain &&
             (row.main_doubt == Doubt::lost_stretch || row.main_doubt == Doubt::incomplete_trace ||
              row.main_doubt == Doubt::frees_not_recorded);
    });
  });
}

}  // namespace

const LeakVerdictText& describe(LeakVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::vector<LeakVerdictText> leak_verdicts() { return {kVerdicts.rbegin(), kVerdicts.rend()}; }
std::string_view id_of(LeaksUnclear unclear) {
  switch (unclear) {
    case LeaksUnclear::none: return "none";
    case LeaksUnclear::no_clock: return "no-clock";
    case LeaksUnclear::too_short: return "too-short";
    case LeaksUnclear::no_events: return "no-events";
    case LeaksUnclear::mostly_lost: return "mostly-lost";
    case LeaksUnclear::no_stacks: return "no-stacks";
    case LeaksUnclear::missing_events: break;
  }
  return "missing-events";
}

bool lacks_stacks(const std::vector<GroupKey>& by, const TraceSummary& trace) {
  return by == std::vector{GroupKey::stack} && trace.stacks + trace.user_stacks == 0;
}

bool LeaksResult::found() const {
  return std::any_of(tables.begin(), tables.end(), [](const LeakTable& table) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [](const LeakRow& row) { return row.verdict == LeakVerdict::certain; });
  });
}

LeaksUnclear LeaksResult::unclear() const {
  if (found()) return LeaksUnclear::none;
  // If --time selects only a part of the trace, the events may have been lost in another part.
  const bool is_whole = trace.recorded_ns >= trace.whole_ns;
  if (is_whole && trace.lost_events > events) return LeaksUnclear::mostly_lost;
  if (trace.events == 0) return LeaksUnclear::no_events;
  if (lacks_stacks(by, trace)) return LeaksUnclear::no_stacks;
  if (!trace.clock_in_ns) return LeaksUnclear::no_clock;
  if (!tables.empty() && judged == 0) return LeaksUnclear::too_short;
  return lacks_part(*this) || is_mostly_after_cut(*this) || growth_may_be_missing_events(*this)
             ? LeaksUnclear::missing_events
             : LeaksUnclear::none;
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
      return a->verdict >= LeakVerdict::uneven && is_named_before(*a, *b);
    });
    return sorted;
  }
  return sorted_by_column(rows, by, [](const LeakRow& a, const LeakRow& b) {
    return std::tie(b.group.live_bytes, a.group.name) < std::tie(a.group.live_bytes, b.group.name);
  });
}

}  // namespace kmt
