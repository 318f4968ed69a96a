// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/missing_frees.hpp"

#include <algorithm>

#include "analysis/matching/trace_summary.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

EventKind free_of(EventKind allocation) {
  switch (allocation) {
    case EventKind::kmalloc: return EventKind::kfree;
    case EventKind::percpu_alloc: return EventKind::percpu_free;
    case EventKind::vmap_alloc: return EventKind::vmap_free;
    case EventKind::page_alloc: return EventKind::page_free;
    default: return EventKind::cache_free;
  }
}

// True if the kernel's final statistics report lost events that are marked nowhere else.
bool lost_unmarked(const TraceInfo& info) {
  if (info.losses.somewhere > 0) return true;
  for (const BufferStatistics& statistics : info.losses.buffers) {
    std::uint64_t marked = 0;
    bool all_counted = true;
    for (const LostEvents& lost : info.losses.intervals) {
      if (lost.cpu != statistics.cpu) continue;
      marked += lost.count.value_or(0);
      all_counted = all_counted && lost.count.has_value();
    }
    if (statistics.commit_overrun + statistics.dropped + statistics.not_recorded > 0) return true;
    if (all_counted && statistics.overrun > marked) return true;
  }
  return false;
}

}  // namespace

bool lacks_frees(const TraceInfo& info, EventKind allocation, const FreeCounts& frees) {
  const auto has = [&info](EventKind kind) {
    return std::ranges::find(info.tables.event_types, kind, &EventType::kind) != info.tables.event_types.end();
  };
  const EventKind free = free_of(allocation);
  if (frees[static_cast<std::size_t>(free)] > 0) return false;
  if (allocation == EventKind::percpu_alloc || allocation == EventKind::vmap_alloc) return !has(free);
  // Other recorders also describe event types that they did not record. So a description does not prove that the trace
  // has such events.
  const bool names_what_was_recorded = note_in(info.recording.notes, "recorder").starts_with("kmemtrace ");
  return !names_what_was_recorded || (has(allocation) && !has(free));
}

std::vector<Imperfection> hiding_events(const TraceInfo& info, std::uint64_t end_ns) {
  std::vector<Imperfection> kinds = hiding_events(info.findings);
  if (info.losses.complete_until_ns && end_ns <= *info.losses.complete_until_ns)
    std::erase_if(kinds, [](Imperfection kind) {
      return std::ranges::find(kImpliesMissingEnd, kind) != kImpliesMissingEnd.end();
    });
  return kinds;
}

std::uint64_t events_lost_until(const TraceInfo& info, std::uint64_t end_ns) {
  if (lost_unmarked(info)) return kAnyTime;
  std::uint64_t until_ns = 0;
  for (const LostEvents& lost : info.losses.intervals) {
    if (lost.before_ns > end_ns) continue;
    if (lost.after_ns == 0) return kAnyTime;
    until_ns = std::max(until_ns, lost.after_ns);
  }
  return until_ns;
}

std::uint64_t frees_missing_until(const TraceInfo& info, std::uint64_t end_ns) {
  // If only the end of the file is missing, losses between the events in the file are still known.
  const auto hides_frees = [](Imperfection kind) { return kind != Imperfection::unknown_loss; };
  if (only_some_tasks(info) || std::ranges::any_of(hiding_events(info, end_ns), hides_frees)) return kAnyTime;
  return events_lost_until(info, end_ns);
}

}  // namespace kmt
