// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/memory_line.hpp"

#include <algorithm>

#include "formats/ftrace/record_decoder.hpp"
#include "formats/text/lines.hpp"
#include "formats/text/task_lines.hpp"

namespace kmt::text {

std::string_view system_of(const Line& line) {
  if (!line.system.empty()) return line.system;
  for (const char* const system : {"kmem", "percpu", "vmalloc"})
    if (event_kind(system, line.event) != EventKind::other) return system;
  const TaskEvent* const task = task_event(line);
  return task == nullptr ? "text" : task->system;
}

bool is_whole(EventKind kind, const Line& line) {
  constexpr const char* kIdentities[] = {"ptr", "pfn", "page", "addr", "va_start"};  // each event has one of these
  const auto has = [&line](const char* name) { return !value_of(line.fields, name).empty(); };
  if (line.event == "percpu_alloc_percpu_fail") return has("size") && has("align");
  if (is_slab_alloc(kind) && !(has("bytes_req") && has("bytes_alloc"))) return false;
  if ((kind == EventKind::page_alloc || kind == EventKind::page_free) && !has("order")) return false;
  return kind == EventKind::other || std::ranges::any_of(kIdentities, has);
}

bool is_memory_event(const Line& line) {
  const EventKind kind = event_kind(system_of(line), line.event);
  return kind != EventKind::other && !is_syscall(kind) && !is_stall(kind);
}

bool is_whole_memory_event(const Line& line) {
  return is_memory_event(line) && is_whole(event_kind(system_of(line), line.event), line);
}

}  // namespace kmt::text
