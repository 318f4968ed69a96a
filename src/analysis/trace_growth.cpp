// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/trace_growth.hpp"

#include <algorithm>
#include <span>

#include "analysis/growth_clusters.hpp"

namespace kmt {

namespace {

constexpr std::string_view kUnknown = "unknown";

// In the order of keys_of_growth().
enum Key : std::uint8_t { kWhere, kProcess, kCache, kSize, kOrder };

// Of pages, the allocator's functions too: they tell what the pages are for, and find_page_owner() takes them away.
std::vector<std::string> stack_of(const KeyValue& where, bool of_pages) {
  std::vector<std::string> names;
  if (const auto* const stack = std::get_if<std::vector<CodeAddress>>(&where)) {
    for (const CodeAddress& code : of_pages ? std::span<const CodeAddress>(*stack) : telling_frames(*stack))
      if (code.object.empty()) names.push_back(code.symbol);
  } else if (const auto* const site = std::get_if<CodeAddress>(&where)) {
    names.push_back(site->symbol);
  }
  if (names.empty()) names.emplace_back(kUnknown);
  return names;
}

std::string cache_of(const GroupRow& row) {
  if (row.allocator == Allocator::pages) return "pages of order " + plain_text(row.keys[kOrder]);
  if (row.allocator == Allocator::percpu) return "percpu memory";
  if (row.allocator == Allocator::vmap) return "vmalloc areas";
  std::string name = plain_text(row.keys[kCache]);
  const auto* const size = std::get_if<std::uint64_t>(&row.keys[kSize]);
  const bool is_named = std::holds_alternative<std::string>(row.keys[kCache]);
  if (is_named && (!name.starts_with("kmalloc-") || name.starts_with("kmalloc-rcl-"))) return name;
  if (size == nullptr) return name;
  return is_named ? kmalloc_name(*size) : objects_name(*size);  // kmalloc always has a name
}

std::string_view reason_to_leave_out(const GroupRow& row) {
  const GroupHistory& history = *row.history;
  if (history.doubtful_in_all().bytes * 2 <= row.live_bytes) return {};
  const auto most = std::ranges::max_element(history.doubtful, {}, &LiveCount::bytes);
  return describe(static_cast<Doubt>(most - history.doubtful.begin())).sentence;
}

}  // namespace

std::vector<GroupKey> keys_of_growth(bool by_stack) {
  return {by_stack ? GroupKey::stack : GroupKey::call_site, GroupKey::process, GroupKey::cache, GroupKey::size,
          GroupKey::order};
}

GrowthSeen trace_growth(const ReportResult& report) {
  GrowthSeen seen;
  const TimeAxis& axis = report.histories->axis;
  seen.step_seconds = static_cast<double>(axis.width_ns) / 1e9;
  seen.steps = axis.buckets;
  for (const GroupTable& table : report.groups)
    for (const GroupRow& row : table.rows) {
      if (!row.history || row.live_bytes == 0 || !row.knows_bytes) continue;
      GrowthGroup& group = seen.groups.emplace_back();
      group.stack = stack_of(row.keys[kWhere], row.allocator == Allocator::pages);
      group.cache = cache_of(row);
      if (const auto* const task = std::get_if<TaskName>(&row.keys[kProcess])) {
        group.task = task->comm;
        group.process = static_cast<std::uint32_t>(task->id.value_or(0));
      }
      group.left_out = reason_to_leave_out(row);
      if (row.allocator == Allocator::pages) {
        if (group.stack.front() == kUnknown)
          group.left_out = "without stacks it is not known which pages are of slabs, and which of users";
        const PageOwner owner = find_page_owner(group.stack);
        if (owner.is_slab) {
          seen.groups.pop_back();
          continue;
        }
        if (owner.is_vmalloc) group.cache = "vmalloc areas";
        if (!owner.left_out.empty()) group.left_out = owner.left_out;
      }
      group.seen = row.live_allocations;
      group.objects = static_cast<double>(row.live_allocations);
      group.bytes = static_cast<double>(row.live_bytes);
      const GroupHistory& history = *row.history;
      for (std::size_t i = 0; i < history.series.size(); ++i)
        group.live.push_back(static_cast<double>(history.series[i].live_bytes) -
                             static_cast<double>(history.doubtful_bytes[i]));
    }
  return seen;
}

}  // namespace kmt
