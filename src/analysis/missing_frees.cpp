// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/missing_frees.hpp"

#include <algorithm>

#include "analysis/trace_summary.hpp"
#include "trace/imperfections.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

bool lost_unmarked(const TraceInfo& info) {
  if (info.lost_somewhere > 0) return true;
  for (const BufferStatistics& statistics : info.buffer_statistics) {
    std::uint64_t marked = 0;
    bool all_counted = true;
    for (const LostEvents& lost : info.lost) {
      if (lost.cpu != statistics.cpu) continue;
      marked += lost.count.value_or(0);
      all_counted = all_counted && lost.count.has_value();
    }
    if (statistics.commit_overrun + statistics.dropped + statistics.not_recorded > 0) return true;
    if (all_counted && statistics.overrun > marked) return true;
  }
  return false;
}

bool lacks_frees(const TraceInfo& info, Allocator allocator, std::uint64_t frees) {
  if (frees > 0) return false;
  const auto has = [&info](EventKind kind) {
    return std::ranges::find(info.event_types, kind, &EventType::kind) != info.event_types.end();
  };
  const auto is_told = [&has](EventKind allocation, EventKind free) { return !has(allocation) || has(free); };
  // Others' traces describe events, too, that were not recorded.
  const bool names_what_was_recorded = note_in(info.notes, "recorder").starts_with("kmemtrace ");
  switch (allocator) {
    case Allocator::percpu: return !has(EventKind::percpu_free);
    case Allocator::vmap: return !has(EventKind::vmap_free);
    case Allocator::pages: return !names_what_was_recorded || !is_told(EventKind::page_alloc, EventKind::page_free);
    case Allocator::slab: break;
  }
  return !names_what_was_recorded || !is_told(EventKind::kmalloc, EventKind::kfree) ||
         !is_told(EventKind::cache_alloc, EventKind::cache_free);
}

bool may_lack_frees(const TraceInfo& info) {
  return !info.lost.empty() || lost_unmarked(info) || only_some_tasks(info) || !hiding_events(info.findings).empty();
}

}  // namespace kmt
