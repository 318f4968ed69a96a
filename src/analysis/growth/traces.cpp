// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/traces.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/growth/clusters.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

constexpr std::string_view kUnknown = "unknown";

// The names below are in the order of keys_of_growth().
enum Key : std::uint8_t { kWhere, kProcess, kCache, kSize, kOrder, kCgroup };

// Returns the functions of a stack. Stacks of pages keep the frames of the allocator, because these show what the pages
// are used for. find_page_owner() removes them later.
std::vector<std::string> stack_of(const KeyValue& where, bool of_pages) {
  std::vector<std::string> names;
  if (const auto* const stack = std::get_if<std::vector<CodeAddress>>(&where)) {
    for (const CodeAddress& code : of_pages ? std::span<const CodeAddress>(*stack) : relevant_frames(*stack))
      if (code.object.empty()) names.push_back(code.symbol);
  } else if (const auto* const site = std::get_if<CodeAddress>(&where)) {
    names.push_back(site->symbol);
  }
  if (names.empty()) names.emplace_back(kUnknown);
  return names;
}

std::string cache_of(const GroupRow& row) {
  if (row.allocator == Allocator::pages) return std::string(kPagesOfOrder) + plain_text(row.keys[kOrder]);
  if (row.allocator == Allocator::percpu) return "percpu memory";
  if (row.allocator == Allocator::vmap) return "vmalloc areas";
  std::string name = plain_text(row.keys[kCache]);
  const auto* const size = std::get_if<std::uint64_t>(&row.keys[kSize]);
  const bool is_named = std::holds_alternative<std::string>(row.keys[kCache]);
  if (is_named && (!name.starts_with("kmalloc-") || name.starts_with("kmalloc-rcl-"))) return name;
  if (size == nullptr) return name;
  return is_named ? kmalloc_name(*size) : objects_name(*size);  // kmalloc allocations always have a name
}

// Returns the growth group for a report row, without time series and doubtful bytes. Empty for pages of slabs, whose
// objects are counted instead.
std::optional<GrowthGroup> described(const GroupRow& row) {
  GrowthGroup group;
  group.stack = stack_of(row.keys[kWhere], row.allocator == Allocator::pages);
  group.cache = cache_of(row);
  if (const auto* const task = std::get_if<TaskName>(&row.keys[kProcess])) {
    group.task = task->comm;
    group.process = static_cast<std::uint32_t>(task->id.value_or(0));
  }
  if (const auto* const path = std::get_if<std::string>(&row.keys[kCgroup]); path != nullptr && group.process != 0)
    group.cgroup = *path;
  group.seen = row.live_allocations;
  group.objects = static_cast<double>(row.live_allocations);
  group.bytes = static_cast<double>(row.live_bytes);
  if (row.allocator != Allocator::pages) return group;
  // Without a stack, it is unknown whether the pages belong to slabs or user memory.
  if (group.stack.front() == kUnknown) group.excluded = true;
  const PageOwner owner = find_page_owner(group.stack);
  if (owner.is_slab) return std::nullopt;
  if (owner.is_vmalloc) group.cache = "vmalloc areas";
  if (owner.is_page_table) group.cache = kPageTables;
  group.excluded = group.excluded || owner.excluded;
  return group;
}

// Counts live allocations by task name, cache and stack, and allocations whose address was reused without a traced
// free. Task names are counted separately, because tasks of another name may never free their objects.
class UntracedFrees {
 public:
  void add(const GrowthGroup& group, const GroupRow& row) {
    Count& count = counts_[key_of(group)];
    count.held += row.live_allocations;
    count.reallocated += row.allocations - std::min(row.allocations, row.matched_frees + row.live_allocations);
  }
  bool are_few(const GrowthGroup& group) const {
    const Count& count = counts_.at(key_of(group));
    return count.held >= kThresholds.held_per_unseen * count.reallocated;
  }

 private:
  struct Count {
    std::uint64_t held = 0;
    std::uint64_t reallocated = 0;
  };
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;  // task, cache, stack
  static Key key_of(const GrowthGroup& group) { return {group.task, group.cache, group.stack}; }
  std::map<Key, Count> counts_;
};

// True if some bytes of a group may already be freed. Does not count bytes that are only doubtful because other tasks
// free such objects through untraced paths.
bool is_doubted(const GroupHistory& history, bool few_untraced_frees) {
  const std::uint64_t bytes = history.doubtful_in_all().bytes;
  const std::uint64_t reallocated = history.doubtful[static_cast<std::size_t>(Doubt::reallocated)].bytes;
  return bytes > 0 && !(few_untraced_frees && reallocated == bytes);
}

bool is_mostly_doubtful(const GroupRow& row) { return row.history->doubtful_in_all().bytes * 2 > row.live_bytes; }

std::vector<double> live_bytes(const GroupHistory& history, bool doubted) {
  std::vector<double> live;
  live.reserve(history.series.size());
  for (std::size_t i = 0; i < history.series.size(); ++i)
    live.push_back(static_cast<double>(history.series[i].live_bytes) -
                   (doubted ? static_cast<double>(history.doubtful_bytes[i]) : 0));
  return live;
}

}  // namespace

std::vector<GroupKey> keys_of_growth(bool by_stack) {
  return {by_stack ? GroupKey::stack : GroupKey::call_site,
          GroupKey::process,
          GroupKey::cache,
          GroupKey::size,
          GroupKey::order,
          GroupKey::cgroup};
}

GrowthSeen trace_growth(const ReportResult& report) {
  GrowthSeen seen;
  const TimeAxis& axis = report.histories->axis;
  seen.step_seconds = static_cast<double>(axis.width_ns) / 1e9;
  seen.steps = axis.buckets;
  std::vector<const GroupRow*> rows;  // index: group in seen.groups; value: its report row
  UntracedFrees untraced;
  for (const GroupTable& table : report.groups)
    for (const GroupRow& row : table.rows) {
      std::optional<GrowthGroup> group = row.knows_bytes ? described(row) : std::nullopt;
      if (!group) continue;
      untraced.add(*group, row);
      if (!row.history || row.live_bytes == 0) continue;
      seen.groups.push_back(std::move(*group));
      rows.push_back(&row);
    }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    GrowthGroup& group = seen.groups[i];
    const bool doubted = is_doubted(*rows[i]->history, untraced.are_few(group));
    group.live = live_bytes(*rows[i]->history, doubted);
    group.excluded = group.excluded || (doubted && is_mostly_doubtful(*rows[i]));
  }
  return seen;
}

void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen) {
  for (GrowthGroup& group : seen.groups) {
    if (group.process == 0 || (group.cgroup != "/" && !group.cgroup.empty())) continue;
    const auto known = cgroups.find(group.process);
    group.cgroup = known == cgroups.end() ? std::string() : known->second;
  }
}

void name_processes(const std::function<std::string(std::uint32_t)>& name_of, GrowthSeen& seen) {
  std::map<std::uint32_t, std::map<std::string, double>> bytes_of_names;  // key: process
  for (const GrowthGroup& group : seen.groups)
    if (group.process != 0) bytes_of_names[group.process][group.task] += group.bytes;
  std::map<std::uint32_t, std::string> names;
  for (const auto& [process, bytes] : bytes_of_names) {
    std::string name = name_of(process);
    if (name.empty()) name = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; })->first;
    names.emplace(process, std::move(name));
  }
  for (GrowthGroup& group : seen.groups) {
    const auto name = names.find(group.process);
    if (name == names.end() || name->second == group.task) continue;
    group.thread = std::exchange(group.task, name->second);
  }
}

}  // namespace kmt
