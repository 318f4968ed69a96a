// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/queries.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "fleet/answer.hpp"
#include "fleet/schema.hpp"
#include "fleet/sql_files.hpp"
#include "fleet/sql_text.hpp"
#include "results/series/thresholds.hpp"
#include "trace/state/reclaimable_memory.hpp"

namespace kmt {

namespace {

using Json = nlohmann::json;
using Keys = std::vector<const FleetKeyInfo*>;

std::vector<std::string> keys_of(AnswerCells& cells, const Keys& by) {
  std::vector<std::string> keys;
  while (keys.size() < by.size()) keys.push_back(cells.text());
  return keys;
}

std::string any_of(std::string_view column, const std::vector<std::string>& globs) {
  std::string out;
  for (const std::string& glob : globs) out += (out.empty() ? "" : " OR ") + sql_like(column, glob);
  return out.empty() ? "1" : "(" + out + ")";
}

}  // namespace

std::string condition_of(const FleetSelection& selection, std::string_view time) {
  std::string out = any_of("host", selection.hosts) + " AND " + any_of("kernel", selection.kernels);
  if (selection.since) out += fmt::format(" AND {} >= toDateTime({})", time, *selection.since);
  if (selection.until) out += fmt::format(" AND {} < toDateTime({})", time, *selection.until);
  return out;
}

std::string words_of(const FleetSelection& selection) {
  std::string out;
  const auto add = [&](std::string_view what, std::string_view value) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, value);
  };
  for (const std::string& host : selection.hosts) add("host", host);
  for (const std::string& kernel : selection.kernels) add("kernel", kernel);
  if (selection.since) add("since", utc_text(*selection.since));
  if (selection.until) add("until", utc_text(*selection.until));
  return out;
}

namespace {

// Returns an SQL condition for rows of the table `sums`. It also limits `day`, because the table is partitioned by day.
std::string rows_in_time(const FleetSelection& selection) {
  std::string out = condition_of(selection, "at");
  if (selection.since) out += fmt::format(" AND day >= toDate(toDateTime({}, 'UTC'))", *selection.since);
  if (selection.until) out += fmt::format(" AND day <= toDate(toDateTime({}, 'UTC'))", *selection.until);
  return out;
}

// Returns a condition for traces that overlap with the selected time.
std::string traces_in_time(FleetSelection selection) {
  const std::optional<std::uint32_t> since = std::exchange(selection.since, {});
  std::string out = condition_of(selection, "began");
  if (since) out += fmt::format(" AND toUInt32(began) + intDiv(end_ns - first_ns, 1000000000) >= {}", *since);
  return out;
}

// Returns an SQL expression for the part of a trace's recorded time that is between --since and --until.
std::string recorded_in(const FleetSelection& selection) {
  if (!selection.since && !selection.until) return "recorded_ns";
  std::string begin = "toInt64(toUInt32(began)) * 1000000000";
  std::string end = begin + " + toInt64(recorded_ns)";
  if (selection.since) begin = fmt::format("greatest({}, toInt64({}) * 1000000000)", begin, *selection.since);
  if (selection.until) end = fmt::format("least({}, toInt64({}) * 1000000000)", end, *selection.until);
  return fmt::format("toUInt64(greatest(toInt64(0), {} - {}))", end, begin);
}

// Returns an SQL condition for groups whose memory the kernel can reclaim, or may be able to reclaim.
std::string shrinkable() {
  std::vector<std::string> caches(kReclaimableCaches.begin(), kReclaimableCaches.end());
  caches.insert(caches.end(), kShrinkableCaches.begin(), kShrinkableCaches.end());
  std::vector<std::string> functions(kReclaimableFunctions.begin(), kReclaimableFunctions.end());
  functions.insert(functions.end(), kShrinkableFunctions.begin(), kShrinkableFunctions.end());
  std::string types = "''";  // '' stands for an unknown type
  for (const char* const type : kReclaimableMigrateTypes) types += ", " + sql_string(type);
  return fmt::format("(allocator = 'slab' AND ({} OR {})) OR (allocator = 'pages' AND migrate_type IN ({}))",
                     any_of("cache", caches), any_of("function", functions), types);
}

SqlPlaces places_of(const ClickHouse& server, const Keys& by, std::string rows, std::string traces) {
  std::string keys_as;
  std::string keys;
  for (std::size_t i = 0; i < by.size(); ++i) {
    keys_as += fmt::format(", {} AS k{}", by[i]->sql, i + 1);
    keys += fmt::format(", k{}", i + 1);
  }
  return {{"database", sql_name(server.database())},
          {"keys_as", keys_as},
          {"keys", keys},
          {"rows", std::move(rows)},
          {"traces", std::move(traces)}};
}

// Returns the summary of the selected traces. `words` is the selection as text for the user. `traces` is the selection
// as SQL. `recorded` is SQL for the recorded time of each trace.
FleetSummary summary(ClickHouse& server, const std::string& words, const std::string& traces,
                     const std::string& recorded = "recorded_ns") {
  SqlPlaces places = places_of(server, {}, "1", traces);
  places.emplace_back("recorded", recorded);
  const std::vector<Json> rows = server.query(fill_sql(sql::summary, places));
  if (rows.empty() || AnswerCells(rows.front()).count() == 0)
    throw Error(words.empty() ? "The server has no traces" : "The server has no such trace: " + words)
        .hint("`kmemtrace fleet traces` lists the traces; `kmemtrace export FILE --to clickhouse URL` loads a trace");
  AnswerCells cells(rows.front());
  FleetSummary of;
  of.selection = words;
  of.traces = cells.count();
  of.hosts = cells.count();
  of.kernels = cells.texts();
  of.recorded_ns = cells.count();
  of.events = cells.count();
  of.lost_events = cells.count();
  of.first_began = cells.number_32();
  of.last_began = cells.number_32();
  of.may_lack_frees = cells.count();
  return of;
}

std::string name_of_keys(const std::vector<std::string>& keys) {
  std::string name;
  for (const std::string& key : keys) name += fmt::format("{}{}", name.empty() ? "" : ", ", key.empty() ? "-" : key);
  return name;
}

GroupRow sums_of(Allocator allocator, AnswerCells& cells) {
  GroupRow row;
  row.allocator = allocator;
  for (const auto field : AllocationSums::kFields) row.*field = cells.count();
  return row;
}

// If a side of a diff has no allocations of the table's allocator, makes all values of this side unknown, because that
// side may not have recorded the allocator.
void forget_sides_without_allocations(DiffTable& table) {
  table.knows_a = std::ranges::any_of(table.rows, &DiffRow::in_a);
  table.knows_b = std::ranges::any_of(table.rows, &DiffRow::in_b);
  for (DiffRow& row : table.rows) {
    if (!table.knows_a) row.a.reset();
    if (!table.knows_b) row.b.reset();
  }
}

// Returns the table of an allocator. Adds the table if it does not exist. The tables are sorted by allocator.
template <typename Table>
Table& table_of(std::vector<Table>& tables, Allocator allocator) {
  const auto found = std::ranges::find(tables, allocator, &Table::allocator);
  if (found != tables.end()) return *found;
  const auto next = std::ranges::find_if(tables, [&](const Table& table) { return table.allocator > allocator; });
  return *tables.insert(next, Table{allocator, {}});
}

}  // namespace

FleetReport fleet_report(ClickHouse& server, const FleetSelection& selection, Keys by) {
  check_schema(server);
  const std::string traces = traces_in_time(selection);
  FleetReport report{summary(server, words_of(selection), traces, recorded_in(selection)), std::move(by), {}};
  report.of.whole_events = !selection.since && !selection.until;
  // Memory that is live at the end may have been allocated before the selected time, so the query includes earlier
  // rows. It excludes them if the report is grouped by day: each row has only memory that was allocated on its day.
  FleetSelection rows = selection;
  if (std::ranges::find(report.by, "day", &FleetKeyInfo::name) == report.by.end()) rows.since.reset();
  const std::string since_first = fmt::format(" AND day >= toDate(toDateTime({}, 'UTC'))", report.of.first_began);
  SqlPlaces places = places_of(server, report.by, rows_in_time(rows) + since_first, traces);
  places.emplace_back("during", selection.since ? fmt::format("at >= toDateTime({})", *selection.since) : "1");
  for (const Json& row : server.query(fill_sql(sql::report, places))) {
    AnswerCells cells(row);
    const Allocator allocator = cells.allocator();
    FleetRow group;
    group.keys = keys_of(cells, report.by);
    group.name = name_of_keys(group.keys);
    group.hosts = cells.count();
    group.traces = cells.count();
    group.sums = sums_of(allocator, cells);
    group.lifetime_ns = cells.count();
    table_of(report.tables, allocator).rows.push_back(std::move(group));
  }
  return report;
}

FleetLeaks fleet_leaks(ClickHouse& server, const FleetSelection& selection, Keys by) {
  check_schema(server);
  const std::string traces = condition_of(selection, "began");
  FleetLeaks leaks{summary(server, words_of(selection), traces), std::move(by), {}};
  SqlPlaces places = places_of(server, leaks.by, traces, traces);
  places.emplace_back("shrinkable", shrinkable());
  places.emplace_back("least_seconds", fmt::format("{}", kThresholds.least_seconds));
  places.emplace_back("frees_per_unseen", fmt::format("{}", kThresholds.frees_per_unseen));
  for (const Json& row : server.query(fill_sql(sql::leaks, places))) {
    AnswerCells cells(row);
    const Allocator allocator = cells.allocator();
    FleetLeakRow group;
    group.keys = keys_of(cells, leaks.by);
    group.name = name_of_keys(group.keys);
    group.hosts = cells.count();
    group.traces = cells.count();
    group.growing_hosts = cells.count();
    group.growing_traces = cells.count();
    group.live_allocations = cells.number();
    group.live_bytes = cells.number();
    if (const std::int64_t bytes = cells.number(); allocator == Allocator::slab || allocator == Allocator::pages)
      group.reclaimable_bytes = bytes;
    group.unseen_bytes = cells.number();
    group.growth = cells.decimal();
    group.sure_growth = cells.decimal();
    group.deviation = cells.decimal();
    table_of(leaks.tables, allocator).rows.push_back(std::move(group));
  }
  return leaks;
}

FleetDiff fleet_diff(ClickHouse& server, const FleetSelection& both, const FleetSelection& a, const FleetSelection& b,
                     Keys by) {
  check_schema(server);
  const auto sql_of = [&](const FleetSelection& side) {
    return condition_of(both, "began") + " AND " + condition_of(side, "began");
  };
  const auto words = [&](const FleetSelection& side) {
    const std::string common = words_of(both);
    return common + (common.empty() ? "" : ", ") + words_of(side);
  };
  const std::string of_a = sql_of(a);
  const std::string of_b = sql_of(b);
  FleetDiff diff{summary(server, words(a), of_a), summary(server, words(b), of_b), {}, std::move(by), {}};
  const bool timed = diff.a.recorded_ns > 0 && diff.b.recorded_ns > 0;
  diff.basis = {timed ? DiffPer::second : DiffPer::trace, "", timed ? static_cast<double>(diff.a.recorded_ns) / 1e9 : 1,
                timed ? static_cast<double>(diff.b.recorded_ns) / 1e9 : 1,
                timed ? "seconds of all traces together" : "a side's traces have no duration"};
  SqlPlaces places = places_of(server, diff.by, "1", fmt::format("({}) OR ({})", of_a, of_b));
  places.emplace_back("a", of_a);
  places.emplace_back("b", of_b);
  for (const Json& row : server.query(fill_sql(sql::diff, places))) {
    AnswerCells cells(row);
    const Allocator allocator = cells.allocator();
    DiffRow joined;
    for (std::string& key : keys_of(cells, diff.by)) joined.keys.emplace_back(std::move(key));
    for (const KeyValue& key : joined.keys) joined.name += (joined.name.empty() ? "" : ", ") + plain_text(key);
    const auto side = [&](std::optional<GroupRow>& sums) {
      cells.count();  // hosts
      const bool is_there = cells.count() > 0;
      sums = sums_of(allocator, cells);
      cells.count();  // lifetimes
      return is_there;
    };
    joined.in_a = side(joined.a);
    joined.in_b = side(joined.b);
    table_of(diff.tables, allocator).rows.push_back(std::move(joined));
  }
  for (DiffTable& table : diff.tables) forget_sides_without_allocations(table);
  return diff;
}

FleetTraces fleet_traces(ClickHouse& server, const FleetSelection& selection) {
  check_schema(server);
  const std::string traces = condition_of(selection, "began");
  FleetTraces found{summary(server, words_of(selection), traces), {}};
  for (const Json& row : server.query(fill_sql(sql::traces, places_of(server, {}, "1", traces)))) {
    AnswerCells cells(row);
    FleetTraceRow trace;
    for (std::string* text :
         {&trace.trace, &trace.host, &trace.kernel, &trace.arch, &trace.level, &trace.path, &trace.format})
      *text = cells.text();
    trace.began = cells.number_32();
    trace.recorded_ns = cells.count();
    trace.events = cells.count();
    trace.lost_events = cells.count();
    found.rows.push_back(std::move(trace));
  }
  return found;
}

}  // namespace kmt
