// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

KeyValue joined_by(const KeyValue& value, bool exact) {
  const auto name_of_code = [exact](const CodeAddress& code) {
    const bool whole = exact || !code.object.empty();
    return std::string(whole ? std::string_view(code.symbol) : function_of(code.symbol));
  };
  if (const auto* code = std::get_if<CodeAddress>(&value)) return name_of_code(*code);
  if (const auto* task = std::get_if<TaskName>(&value)) return task->comm;
  if (const auto* named = std::get_if<NamedNumber>(&value)) return named->name;
  if (const auto* frames = std::get_if<std::vector<CodeAddress>>(&value)) {
    std::vector<CodeAddress> functions;
    for (const CodeAddress& frame : *frames) functions.push_back({0, name_of_code(frame), {}, false, frame.object});
    return functions;
  }
  return value;
}

struct Joined {
  std::vector<KeyValue> keys;
  std::vector<const GroupRow*> a;
  std::vector<const GroupRow*> b;
};
using Groups = std::map<std::string, Joined>;

void join(const ReportResult& report, Allocator allocator, bool exact, std::vector<const GroupRow*> Joined::*side,
          Groups& groups) {
  for (const GroupTable& table : report.groups) {
    if (table.allocator != allocator) continue;
    for (const GroupRow& row : table.rows) {
      std::vector<KeyValue> keys;
      std::string name;
      for (const KeyValue& key : row.keys) {
        keys.push_back(joined_by(key, exact));
        name += (name.empty() ? "" : ", ") + plain_text(keys.back());
      }
      Joined& joined = groups[name];
      joined.keys = std::move(keys);
      (joined.*side).push_back(&row);
    }
  }
}

// The rows of one trace for one allocator.
struct Side {
  std::optional<GroupRow> total;  // empty: unknown
  std::optional<GroupRow> none;   // zeros if this trace lacks the group; empty if the values are unknown
  bool is_there = false;          // true: the trace contains allocations or frees of the allocator

  // Merges groups with the same name into one row. The merged row has no peak, because the groups had their peaks at
  // different times.
  std::optional<GroupRow> joined(const std::vector<const GroupRow*>& groups) const {
    if (groups.empty()) return none;
    return groups.size() == 1 ? *groups.front() : sum_of(groups, "");
  }
};

Side side_of(const ReportResult& report, Allocator allocator) {
  if (!report.activity.allocated[static_cast<std::size_t>(allocator)]) return {};
  const AllocatorTotals& totals = totals_of(report, allocator);
  AllocatorTotals nothing;
  nothing.knows_bytes = totals.knows_bytes;
  Side side{row_of(totals, allocator), row_of(nothing, allocator),
            totals.allocations + totals.failed_allocations + totals.frees > 0};
  if (!report.slab.cross_node_allocations) {
    side.total->cross_node_frees.reset();
    side.none->cross_node_frees.reset();
  }
  if (std::ranges::any_of(report.by, is_known_when_freed)) side.none->peak_bytes.reset();
  if (std::ranges::find(report.by, GroupKey::lifetime) != report.by.end())
    side.none->knows_freed = allocator != Allocator::pages;
  return side;
}

double count_of(const ReportResult& side, const std::string& event) {
  std::uint64_t count = 0;
  for (const auto& [name, occurrences] : side.activity.events)
    if (name == event || name.substr(name.find(':') + 1) == event) count += occurrences;
  if (count > 0) return static_cast<double>(count);
  Error error(fmt::format("Cannot compare per \"{}\": {} has no such event", event, printable(side.trace.path)));
  const bool has_tasks = std::ranges::any_of(side.activity.events, [](const auto& counted) {
    return counted.first == "task:task_newtask" && counted.second > 0;
  });
  error.hint(has_tasks && event.ends_with("sched_process_fork")
                 ? "The trace has task_newtask, which occurs for each new process or thread: --per task_newtask"
                 : "`kmemtrace report` lists the events of a trace. --time may exclude all occurrences of an event");
  throw error;
}

double seconds_of(const ReportResult& side) { return static_cast<double>(side.trace.recorded_ns) / 1e9; }

// Returns the reason why counts per second would be misleading, or an empty string.
std::string why_not_per_second(const ReportResult& a, const ReportResult& b) {
  if (!a.trace.clock_in_ns || !b.trace.clock_in_ns) return "a clock does not count nanoseconds";
  if (a.trace.recorded_ns == 0 || b.trace.recorded_ns == 0) return "a trace has no duration";
  return {};
}

DiffBasis basis_of(const ReportResult& a, const ReportResult& b, const DiffRequest& request) {
  if (request.per == DiffPer::trace) return {DiffPer::trace, "", 1, 1, "as requested"};
  if (request.per == DiffPer::event)
    return {DiffPer::event, request.event, count_of(a, request.event), count_of(b, request.event), "as requested"};
  const std::string why_not = why_not_per_second(a, b);
  if (request.per && !why_not.empty()) throw Error("Cannot compare per second: " + why_not);
  if (!why_not.empty()) return {DiffPer::trace, "", 1, 1, why_not};
  if (request.per) return {DiffPer::second, "", seconds_of(a), seconds_of(b), "as requested"};
  constexpr double kAboutEqual = 0.01;
  const double longest = std::max(seconds_of(a), seconds_of(b));
  if (std::abs(seconds_of(a) - seconds_of(b)) <= kAboutEqual * longest)
    return {DiffPer::trace, "", 1, 1, "both traces have about the same length"};
  return {DiffPer::second, "", seconds_of(a), seconds_of(b), "the traces differ in length"};
}

}  // namespace

DiffResult diff(const ReportResult& a, const ReportResult& b, const DiffRequest& request) {
  DiffResult result{a.trace, b.trace, basis_of(a, b, request), a.by, {}, {}};
  for (const Allocator allocator : {Allocator::slab, Allocator::pages, Allocator::percpu, Allocator::vmap}) {
    const Side of_a = side_of(a, allocator);
    const Side of_b = side_of(b, allocator);
    if (of_a.is_there || of_b.is_there)
      result.totals.push_back({allocator, {{}, "total", of_a.total, of_b.total, of_a.is_there, of_b.is_there}});
    Groups groups;
    join(a, allocator, request.exact, &Joined::a, groups);
    join(b, allocator, request.exact, &Joined::b, groups);
    if (groups.empty()) continue;
    DiffTable& table =
        result.tables.emplace_back(DiffTable{allocator, {}, of_a.none.has_value(), of_b.none.has_value()});
    for (auto& [name, joined] : groups)
      table.rows.push_back({std::move(joined.keys), name, of_a.joined(joined.a), of_b.joined(joined.b),
                            !joined.a.empty(), !joined.b.empty()});
  }
  return result;
}

}  // namespace kmt
