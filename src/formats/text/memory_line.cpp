// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/memory_line.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/text.hpp"
#include "formats/ftrace/record_decoder.hpp"
#include "formats/text/call_line.hpp"
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
  constexpr const char* kIdentities[] = {"ptr", "pfn", "page", "addr", "va_start"};  // an event has one of these fields
  const auto has = [&line](const char* name) { return !value_of(line.fields, name).empty(); };
  if (line.event == "percpu_alloc_percpu_fail") return has("size") && has("align");
  if (is_slab_alloc(kind) && !(has("bytes_req") && has("bytes_alloc"))) return false;
  if ((kind == EventKind::page_alloc || kind == EventKind::page_free) && !has("order")) return false;
  return kind == EventKind::other || std::ranges::any_of(kIdentities, has);
}

bool is_memory_event(const Line& line) {
  const EventKind kind = event_kind(system_of(line), line.event);
  return kind != EventKind::other && !is_syscall(kind);
}

bool is_whole_memory_event(const Line& line) {
  return is_memory_event(line) && is_whole(event_kind(system_of(line), line.event), line);
}

namespace {

// True for the name of a memory event, such as "kmalloc" or "kmem:kmalloc".
bool names_memory_event(std::string_view name) {
  Line line;
  line.event = name.substr(name.rfind(':') + 1);  // npos + 1 is 0
  if (line.event.size() < name.size()) line.system = name.substr(0, name.size() - line.event.size() - 1);
  return is_memory_event(line);
}

bool has_name_of_event(std::string_view fields) {
  for (std::size_t colon = fields.find(": "); colon != fields.npos; colon = fields.find(": ", colon + 1)) {
    const std::string_view before = fields.substr(0, colon);
    if (names_memory_event(before.substr(before.find_last_of(' ') + 1))) return true;
  }
  return false;
}

bool has_twice(std::string_view fields, std::string_view key) {
  const std::size_t first = fields.find(key);
  for (std::size_t at = first; at != fields.npos; at = fields.find(key, at + 1))
    if (at != first && fields[at - 1] == ' ') return true;
  return false;
}

// True if the columns before an event contain a call, or a loss such as "CPU:1 [LOST 123 EVENTS]".
bool has_line_before(std::string_view comm) {
  constexpr std::size_t kMostOfAName = 15;
  if (comm.size() <= kMostOfAName) return false;
  return comm.find(" EVENTS") != comm.npos || parse_call_line(trim(comm.substr(0, comm.find_last_of(' '))));
}

}  // namespace

bool has_other_line(const Line& line) {
  if (has_line_before(line.comm)) return true;
  const std::string_view fields = line.fields;
  const bool is_memory = is_memory_event(line);
  constexpr const char* kIdentities[] = {"call_site=", "ptr=", "pfn="};
  if (is_memory && (fields.find("*/") != fields.npos || fields.find("CPU:") != fields.npos ||
                    std::ranges::any_of(kIdentities, [fields](const char* key) { return has_twice(fields, key); })))
    return true;
  // Programs may print anything, also lines of a trace.
  constexpr std::array<std::string_view, 5> kPrinted = {"print", "bprint", "bputs", "tracing_mark_write", "console"};
  if (fields.find(": ") == fields.npos || std::ranges::find(kPrinted, line.event) != kPrinted.end()) return false;
  return has_name_of_event(fields) || (is_memory && parse_line(fields));
}

}  // namespace kmt::text
