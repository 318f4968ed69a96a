// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/leak_sources.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

namespace {

bool is_same_process(const TaskName& a, const TaskName& b) {
  return a.id == b.id && a.born_ns == b.born_ns && (a.id || a.comm == b.comm);
}

void add_names(const std::vector<LiveName>& of_group, std::vector<LiveName>& names) {
  for (const LiveName& one : of_group) {
    auto name = std::ranges::find(names, one.name, &LiveName::name);
    if (name == names.end()) name = names.insert(name, {one.name});
    name->processes = std::max(name->processes, one.processes);
    name->live += one.live;
  }
}

// Returns the processes that allocated most of the memory. If many have the same name, returns the name instead.
// `holders` must be in descending order of bytes.
std::vector<LeakSource> sources_of(const std::vector<LeakHolder>& holders, const std::vector<LiveName>& names) {
  std::vector<LeakSource> sources;
  std::set<std::string_view> many;
  for (const LiveName& name : names) {
    const auto largest =
        std::ranges::find_if(holders, [&name](const LeakHolder& one) { return one.process.comm == name.name; });
    if (!name.is_of_many(largest == holders.end() ? 0 : largest->bytes)) continue;
    many.insert(name.name);
    sources.push_back({TaskName{{}, name.name}, name.processes, name.live.bytes});
  }
  for (const LeakHolder& holder : holders)
    if (!holder.process.id || !many.contains(holder.process.comm)) sources.push_back({holder.process, 1, holder.bytes});
  std::ranges::stable_sort(sources, std::greater(), &LeakSource::bytes);
  return sources;
}

// Returns the process that allocated most of the live memory of a row, or many processes with the same name.
LeakSource main_source(const LeakRow& row) {
  const GroupHistory& history = *row.group.history;
  if (history.holders.empty()) return {};
  const LiveHolder& largest = history.holders.front();
  if (!history.names.empty() && history.names.front().is_of_many(largest.live.bytes)) {
    const LiveName& name = history.names.front();
    return {TaskName{{}, name.name}, name.processes, 0};
  }
  return {largest.process, 1, 0};
}

// True if `row` is a better name for a cause than the best row so far: steady growth is preferred to random swings. A
// call site is preferred to a page order if it grows at least half as fast.
bool is_better_name(const LeakRow& row, const LeakRow& fastest, bool by_order) {
  if (grows_steadily(row) != grows_steadily(fastest)) return grows_steadily(row);
  constexpr double kAsMuch = 0.5;
  const auto weight = [by_order](const LeakRow& one) {
    return judged_trend(one).bytes_per_s * (by_order && one.group.allocator == Allocator::pages ? kAsMuch : 1);
  };
  return weight(row) > weight(fastest);
}

// Groups the rows whose growth is most certain by the process that allocated most of their memory.
void find_causes(LeaksResult& result) {
  const bool by_order = std::ranges::count(result.by, GroupKey::order) > 0;
  for (std::size_t table = 0; table < result.tables.size(); ++table)
    for (std::size_t number = 0; number < result.tables[table].rows.size(); ++number) {
      const LeakRow& row = result.tables[table].rows[number];
      if (row.verdict != result.worst) continue;
      LeakSource source = main_source(row);
      auto cause = std::ranges::find_if(result.causes, [&source](const LeakCause& one) {
        return is_same_process(one.source.process, source.process);
      });
      if (cause == result.causes.end()) {
        cause = result.causes.insert(cause, LeakCause{std::move(source), 0, 0, table, number});
      } else {
        cause->source.processes = std::max(cause->source.processes, source.processes);
        if (is_better_name(row, result.fastest_of(*cause), by_order)) cause->table = table, cause->row = number;
      }
      ++cause->groups;
      cause->bytes_per_s += judged_trend(row).bytes_per_s;
      cause->source.bytes += row.group.live_bytes;
    }
  std::ranges::stable_sort(result.causes, [&result](const LeakCause& a, const LeakCause& b) {
    const bool is_steady = grows_steadily(result.fastest_of(a));
    return is_steady != grows_steadily(result.fastest_of(b)) ? is_steady : a.bytes_per_s > b.bytes_per_s;
  });
}

}  // namespace

void find_sources(LeaksResult& result) {
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) result.worst = std::max(result.worst, row.verdict);
  if (result.worst < LeakVerdict::uneven) return;
  std::vector<LiveName> names;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      // For a row that stands for a whole allocator, no processes are collected.
      if (row.verdict != result.worst || row.group.history->holders.empty()) continue;
      ++result.worst_groups;
      result.worst_bytes += row.group.live_bytes;
      for (const LiveHolder& of_group : row.group.history->holders) {
        auto holder = std::ranges::find_if(result.holders, [&of_group](const LeakHolder& one) {
          return is_same_process(one.process, of_group.process);
        });
        if (holder == result.holders.end()) holder = result.holders.insert(holder, {of_group.process});
        holder->bytes += of_group.live.bytes;
        ++holder->groups;
      }
      add_names(row.group.history->names, names);
    }
  std::ranges::stable_sort(result.holders, std::greater(), &LeakHolder::bytes);
  result.sources = sources_of(result.holders, names);
  find_causes(result);
}

}  // namespace kmt
