// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/stalls/groups.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/gfp_flags.hpp"

namespace kmt {

namespace {

// True if the key describes memory, and not the task or code that needs it.
bool is_of_memory(GroupKey key) {
  constexpr std::array kKeys = {GroupKey::cache,     GroupKey::size, GroupKey::requested_size, GroupKey::migrate_type,
                                GroupKey::accounted, GroupKey::node, GroupKey::memory_node,    GroupKey::address};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

// True for functions in which a task may wait for memory: those that allocate pages, and those that charge memory to a
// cgroup.
bool may_wait(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"__alloc_pages", "__alloc_frozen_pages", "try_charge",
                                                      "charge_memcg",  "__mem_cgroup_charge",  "obj_cgroup_charge"};
  return std::ranges::any_of(kNames, [name](std::string_view start) { return name.starts_with(start); });
}

// Returns the allocation for which a task waited. If it is unknown, returns an allocation of pages by the task and
// stack with which the wait began.
Event awaited(const FollowedWait& wait) {
  if (wait.object) return *wait.object;
  if (wait.pages) return *wait.pages;
  Event event{};
  event.kind = EventKind::page_alloc;
  event.time_ns = wait.begin.time_ns;
  event.tid = wait.begin.tid;
  event.cpu = wait.begin.cpu;
  event.stack = wait.begin.stack;
  event.address = kNoPage;
  event.migrate_type = -1;
  event.node = kNoNode;
  return event;
}

std::vector<GroupKey> with_caller(std::vector<GroupKey> by) {
  if (std::ranges::find(by, GroupKey::caller) == by.end()) by.push_back(GroupKey::caller);
  return by;
}

}  // namespace

FindCaller caller_of_waits(FindCaller find_caller, const SymbolNames& symbols) {
  return [find_caller = std::move(find_caller), &symbols](std::span<const std::uint64_t> frames) {
    // Skips everything that the outermost of these functions calls.
    const auto last = std::find_if(frames.rbegin(), frames.rend(),
                                   [&](std::uint64_t address) { return may_wait(symbols.name(address)); });
    const auto inner = static_cast<std::size_t>(frames.rend() - last);
    return inner + (find_caller ? find_caller(frames.subspan(inner)) : 0);
  };
}

StallGroups::StallGroups(std::vector<GroupKey> by, const TraceInfo& info, const TraceTasks& tasks,
                         const SymbolNames& symbols, CacheNames& caches, FindCaller find_caller,
                         GroupingOptions options)
    : by_(std::move(by)),
      info_(info),
      symbols_(symbols),
      grouping_(with_caller(by_), info, tasks, symbols, caches, std::move(find_caller), options) {}

void StallGroups::add(const FollowedWait& wait, const WaitSums& sums) {
  const std::uint32_t origin = grouping_.origin_of(awaited(wait));
  for (const Origin& added : grouping_.take_new_origins()) group_of_.push_back(added.group);
  Properties properties{.group = group_of_[origin], .has_memory = wait.object || wait.pages};
  if (wait.order && std::ranges::find(by_, GroupKey::order) != by_.end()) properties.order = *wait.order;
  if (std::ranges::find(by_, GroupKey::gfp) != by_.end()) properties.gfp_flags = wait.gfp_flags;
  sums_[properties].add(sums);
}

std::vector<KeyValue> StallGroups::values_of(const Properties& properties) const {
  std::vector<KeyValue> values = grouping_.values_of(properties.group, symbols_);
  const auto caller =
      static_cast<std::size_t>(std::ranges::find(grouping_.by(), GroupKey::caller) - grouping_.by().begin());
  for (std::size_t i = 0; i < by_.size(); ++i) {
    if (by_[i] == GroupKey::order)
      values[i] = properties.order < 0 ? KeyValue{} : KeyValue{static_cast<std::uint64_t>(properties.order)};
    else if (by_[i] == GroupKey::gfp)
      values[i] = NamedNumber{properties.gfp_flags, info_.tables.gfp_flags.empty()
                                                        ? fmt::format("{:#x}", properties.gfp_flags)
                                                        : gfp_text(info_.tables.gfp_flags, properties.gfp_flags)};
    else if (by_[i] == GroupKey::call_site && std::holds_alternative<std::monostate>(values[i]))
      values[i] = values[caller];  // events of pages have no call site
    else if (!properties.has_memory && is_of_memory(by_[i]))
      values[i] = {};
  }
  values.resize(by_.size());
  return values;
}

std::vector<WaitRow> StallGroups::rows() const {
  std::map<std::string, WaitRow> by_name;
  for (const auto& [properties, sums] : sums_) {
    WaitRow row{values_of(properties), {}, sums};
    for (const KeyValue& key : row.keys) row.name += (row.name.empty() ? "" : ", ") + plain_text(key);
    const auto [known, is_new] = by_name.try_emplace(row.name, row);
    if (!is_new) known->second.sums.add(sums);
  }
  std::vector<WaitRow> rows;
  rows.reserve(by_name.size());
  for (auto& [name, row] : by_name) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const WaitRow& row) { return row.sums.total_ns; });
  return rows;
}

}  // namespace kmt
