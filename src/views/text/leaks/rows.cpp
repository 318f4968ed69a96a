// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks/rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/text/groups.hpp"
#include "views/text/lines.hpp"

namespace kmt {

bool is_growing(const LeakRow& row) { return row.verdict >= LeakVerdict::uneven; }

bool any_is_growing(const LeaksResult& result) {
  return std::ranges::any_of(result.tables,
                             [](const LeakTable& table) { return std::ranges::any_of(table.rows, is_growing); });
}

std::size_t count_growing(const LeakTable& table) {
  return static_cast<std::size_t>(std::ranges::count_if(table.rows, is_growing));
}

LeakRows shown_leaks(const LeakTable& table, const LeaksResult& result, const LeaksOptions& options,
                     const LeaksExtent& extent) {
  LeakRows rows = sorted_leaks(table.rows, *options.sort);
  std::size_t most = options.shown(rows.size());
  if (options.is_brief && any_is_growing(result))
    most = std::min({most, count_growing(table), extent.growing});
  else if (options.is_brief)
    most = std::min(most, extent.others);
  rows.resize(most);
  return rows;
}

LeakRows leaks_with_stacks(const LeaksResult& result, const LeaksOptions& options, const LeaksExtent& extent) {
  LeakRows rows;
  if (options.stacks == StacksShown::none) return rows;
  for (const LeakTable& table : result.tables) {
    if (table.whole) continue;
    for (const LeakRow* row : shown_leaks(table, result, options, extent))
      if (options.stacks == StacksShown::all || is_growing(*row)) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, [](const LeakRow* a, const LeakRow* b) {
    return a->verdict != b->verdict ? a->verdict > b->verdict : is_named_before(*a, *b);
  });
  if (options.stacks == StacksShown::growing) rows.resize(std::min(rows.size(), extent.stacks));
  return rows;
}

std::string leak_processes(const LeakRow& row, const TextStyle& style) {
  const GroupHistory& history = *row.group.history;
  if (history.holders.empty()) return "-";
  const LiveHolder& largest = history.holders.front();
  if (const LiveName* const name = history.names.empty() ? nullptr : &history.names.front();
      name != nullptr && name->is_of_many(largest.live.bytes))
    return fmt::format("{} ({} processes)", printable(name->name), say_count(name->processes, style));
  const std::string most = printable(plain_text(largest.process));
  return history.holders_in_all == 1 ? most : fmt::format("{}, {} more", most, history.holders_in_all - 1);
}

bool frames_follow(const std::vector<GroupKey>& by, GroupKey key) {
  return key == GroupKey::stack && std::find(by.begin(), by.end(), GroupKey::caller) != by.end();
}

namespace {

bool is_unknown_code(GroupKey key, const KeyValue& value, Allocator allocator) {
  const bool is_owner = key == GroupKey::module || key == GroupKey::subsystem || key == GroupKey::directory;
  return is_owner && applies(key, allocator) && std::holds_alternative<std::monostate>(value);
}

}  // namespace

bool is_of_unknown_code(const LeakRow& row, const std::vector<GroupKey>& by) {
  for (std::size_t key = 0; key < by.size(); ++key)
    if (is_unknown_code(by[key], row.group.keys[key], row.group.allocator)) return true;
  return false;
}

std::string name_of_leak(const LeakRow& row, const std::vector<GroupKey>& by, const TextStyle& style) {
  std::string name;
  for (std::size_t key = 0; key < by.size(); ++key) {
    if (!applies(by[key], row.group.allocator) || frames_follow(by, by[key])) continue;
    const bool bare = std::holds_alternative<std::uint64_t>(row.group.keys[key]);  // needs a name: "order 0"
    name += fmt::format("{}{}{}", name.empty() ? "" : ", ", bare ? fmt::format("{} ", info_of(by[key]).name) : "",
                        is_unknown_code(by[key], row.group.keys[key], row.group.allocator)
                            ? std::string("memory allocated by unknown code")
                            : key_text(by[key], row.group.keys[key], style));
  }
  if (name.empty()) return fmt::format("all {} memory", name_of(row.group.allocator));
  return fmt::format("{} ({})", name, name_of(row.group.allocator));
}

}  // namespace kmt
