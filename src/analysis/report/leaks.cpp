// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/leaks.hpp"

#include <algorithm>
#include <vector>

#include "analysis/report/leak_sources.hpp"
#include "analysis/series/trend.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

Trend trend_of_group(const LeakRow& row, const TimeAxis& axis, bool certain_only) {
  const GroupHistory& history = *row.group.history;
  std::vector<double> values;
  for (std::size_t i = axis.bucket_of(row.group.first_ns.value_or(axis.start_ns)); i < history.series.size(); ++i) {
    const auto live = static_cast<double>(history.series[i].live_bytes);
    values.push_back(certain_only ? live - static_cast<double>(history.doubtful_bytes[i]) : live);
  }
  return trend_of(values, static_cast<double>(axis.width_ns) / 1e9);
}

LeakRow row_of(const GroupRow& group, const ReportResult& report) {
  const TimeAxis& axis = report.histories->axis;
  LeakRow row;
  row.group = group;
  const GroupHistory& history = *group.history;
  row.doubtful = history.doubtful_in_all();
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < kDoubts; ++i)
    if (history.doubtful[i].bytes > most) {
      most = history.doubtful[i].bytes;
      row.main_doubt = static_cast<Doubt>(i);
    }
  constexpr auto kLeastNs = static_cast<std::uint64_t>(kThresholds.least_seconds * 1e9);
  const bool is_followed = axis.end_ns >= group.first_ns.value_or(axis.start_ns) + kLeastNs;
  if (group.knows_bytes && is_followed && report.trace.clock_in_ns) {
    row.trend = trend_of_group(row, axis, false);
    row.certain = row.doubtful.bytes == 0 ? row.trend : trend_of_group(row, axis, true);
    // No certainly live object is left at the end, so there is no certain growth.
    if (row.certain_bytes() == 0) row.certain = {.growth = Growth::none};
  }
  return row;
}

bool is_certain(const Trend& trend, const LeaksResult& result) {
  return rises_above(trend, result.threshold_bytes_per_s) && trend.evenness >= result.confidence_needed;
}

// True if the peak of live memory hardly rose in the last quarter of the time, although allocations continued. Memory
// is then freed as fast as it is allocated. False if the allocations stopped.
bool has_levelled_off(const LeakRow& row, const TimeAxis& axis) {
  const std::vector<TimeSeriesPoint>& points = row.group.history->series;
  const std::size_t first = axis.bucket_of(row.group.first_ns.value_or(axis.start_ns));
  const auto late =
      first + static_cast<std::size_t>(static_cast<double>(points.size() - std::min(first, points.size())) *
                                       (1 - kThresholds.stopped_part));
  if (late <= first || late >= points.size()) return false;
  std::int64_t highest[2] = {0, 0};
  std::uint64_t allocations[2] = {0, 0};
  for (std::size_t i = first; i < points.size(); ++i) {
    highest[i >= late] = std::max(highest[i >= late], points[i].live_bytes);
    allocations[i >= late] += points[i].allocations;
  }
  const double pace = static_cast<double>(points.size() - late) / static_cast<double>(late - first);
  const double usual_rise = static_cast<double>(highest[0]) * pace;
  return static_cast<double>(allocations[1]) >=
             kThresholds.pace_of_older * static_cast<double>(allocations[0]) * pace &&
         static_cast<double>(highest[1] - highest[0]) < kThresholds.stopped_share * usual_rise;
}

// Returns the number of steps, if the certain part of a group's live bytes grows faster than the threshold but only in
// steps; otherwise 0.
std::size_t steps_of(const LeakRow& row, const LeaksResult& result, const TimeAxis& axis) {
  const GroupHistory& history = *row.group.history;
  const double seconds = static_cast<double>(axis.end_ns - axis.start_ns) / 1e9;
  // A few large objects do not count as steps. For example, three programs that start are not a leak.
  if (row.group.live_allocations < kThresholds.fewest_allocations_in_steps ||
      static_cast<double>(row.certain_bytes()) <=
          std::max(result.threshold_bytes_per_s * seconds, kThresholds.least_rise))
    return 0;
  std::vector<double> values;
  for (std::size_t i = 0; i < history.series.size(); ++i)
    values.push_back(static_cast<double>(history.series[i].live_bytes) -
                     static_cast<double>(history.doubtful_bytes[i]));
  return equal_steps(values);
}

LeakVerdict verdict_of(const LeakRow& row, const LeaksResult& result, const TimeAxis& axis) {
  if (!result.trace.clock_in_ns) return LeakVerdict::no_clock;
  switch (row.trend.growth) {
    case Growth::too_few_points: return LeakVerdict::too_short;
    case Growth::none: return LeakVerdict::no_growth;
    case Growth::past: return LeakVerdict::past;
    case Growth::steady: break;
  }
  const bool is_explained = row.main_doubt && explains_growth(*row.main_doubt);
  if (is_explained && !rises_above(row.certain, result.threshold_bytes_per_s)) return LeakVerdict::explained;
  if (!rises_above(row.trend, result.threshold_bytes_per_s)) return LeakVerdict::unsure;
  if (!is_certain(row.trend, result)) return LeakVerdict::uneven;
  if (!is_certain(row.certain, result)) return LeakVerdict::uncertain;
  return has_levelled_off(row, axis) ? LeakVerdict::past : LeakVerdict::certain;
}

// Returns a single row for an allocator to which no key of the report applies.
GroupRow whole(Allocator allocator, const AllocatorTotals& totals, const ReportResult& report) {
  GroupRow row = row_of(totals, allocator);
  row.name = "all";
  row.keys.resize(report.by.size());
  row.first_ns = report.histories->axis.start_ns;
  row.history = report.histories->of_allocator[static_cast<std::size_t>(allocator)];
  return row;
}

std::uint64_t older_frees(Allocator allocator, const ReportResult& report) {
  std::uint64_t frees = 0;
  for (const AnomalyRow& row : report.anomaly_sites)
    if (row.kind == Imperfection::allocated_before_trace && row.allocator == allocator) frees += row.count;
  return frees;
}

LeakTable table_of(Allocator allocator, const ReportResult& report) {
  const AllocatorTotals& totals = totals_of(report, allocator);
  LeakTable table{allocator, false, {}, older_frees(allocator, report)};
  const auto groups = std::find_if(report.groups.begin(), report.groups.end(),
                                   [allocator](const GroupTable& of) { return of.allocator == allocator; });
  if (groups != report.groups.end()) {
    for (const GroupRow& row : groups->rows)
      if (row.history && (row.live_allocations > 0 || row.live_bytes > 0)) table.rows.push_back(row_of(row, report));
  } else if (totals.live_allocations > 0 && report.histories->axis.buckets > 0) {
    table.whole = true;
    table.rows.push_back(row_of(whole(allocator, totals, report), report));
  }
  return table;
}

}  // namespace

LeaksResult leaks_of(const ReportResult& report, double threshold_bytes_per_s) {
  LeaksResult result;
  result.trace = report.trace;
  result.by = report.by;
  result.threshold_bytes_per_s = threshold_bytes_per_s;
  result.axis = report.histories->axis;
  result.groups_not_followed = report.histories->groups_not_followed;
  result.bytes_not_followed = report.histories->bytes_not_followed;
  result.lost_until_ns = report.histories->lost_until_ns;
  for (const auto& [name, count] : report.activity.events) result.events += count;
  result.incomplete = report.histories->incomplete;
  result.cut_at_ns = report.histories->cut_at_ns;
  result.older_lived = report.older.lived;
  result.anomalies = report.anomalies;
  result.explained = report.explained;
  result.findings = report.findings;
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    if (lacks_stacks(report.by, report.trace)) break;
    LeakTable table = table_of(allocator, report);
    for (const LeakRow& row : table.rows) result.judged += row.trend.growth == Growth::too_few_points ? 0 : 1;
    if (!table.rows.empty()) result.tables.push_back(std::move(table));
  }
  result.confidence_needed = needed_evenness(result.judged);
  for (LeakTable& table : result.tables)
    for (LeakRow& row : table.rows) {
      row.verdict = verdict_of(row, result, report.histories->axis);
      if (row.verdict == LeakVerdict::no_growth || row.verdict == LeakVerdict::past ||
          row.verdict == LeakVerdict::unsure)
        row.steps = steps_of(row, result, report.histories->axis);
      if (row.steps > 0) row.verdict = LeakVerdict::unsure;
    }
  find_sources(result);
  return result;
}

std::vector<GroupKey> usual_leak_keys(bool by_stack) {
  if (by_stack) return {GroupKey::caller, GroupKey::stack};
  return {GroupKey::call_site, GroupKey::order};
}

}  // namespace kmt
