// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/names.hpp"

#include <utility>

#include "formats/ftrace/record_decoder.hpp"

namespace kmt::ctf {

namespace {

constexpr std::string_view kUnderstood[] = {"kmem", "percpu", "vmalloc"};

// Prefixes of system call events: in LTTng, and in ftrace. "compat" stands for system calls of 32-bit programs on a
// 64-bit kernel.
constexpr std::pair<std::string_view, std::string_view> kSyscallEvents[] = {
    {"syscall_entry_", "sys_enter_"},
    {"syscall_exit_", "sys_exit_"},
    {"compat_syscall_entry_", "compat_sys_enter_"},
    {"compat_syscall_exit_", "compat_sys_exit_"}};

std::string with_beginning(std::string_view name, std::string_view beginning, std::string_view instead) {
  return std::string(instead) + std::string(name.substr(beginning.size()));
}

bool is_known(std::string_view system, std::string_view name) { return event_kind(system, name) != EventKind::other; }

// Replaces the ending of a field's name. For example, with "pid" instead of "tid", "prev_tid" becomes "prev_pid".
std::string with_ending(std::string_view field, std::string_view ending, std::string_view instead) {
  return std::string(field.substr(0, field.size() - ending.size())) + std::string(instead);
}
bool has_part(std::string_view field, std::string_view part) {
  return field == part || (field.ends_with(part) && field[field.size() - part.size() - 1] == '_');
}

}  // namespace

KernelEvent kernel_event(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos)
    return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1))};
  for (const auto& [lttng, kernel] : kSyscallEvents)
    if (name.starts_with(lttng)) return {"syscalls", with_beginning(name, lttng, kernel)};
  if (name == "kmem_pagevec_free") return {"kmem", "mm_pagevec_free"};  // before Linux 3.3
  for (const std::string_view system : kUnderstood) {
    if (is_known(system, name)) return {std::string(system), std::string(name)};
    if (!name.starts_with(system) || name.size() <= system.size() + 1 || name[system.size()] != '_') continue;
    const std::string_view bare = name.substr(system.size() + 1);
    if (system == "kmem" || is_known(system, bare)) return {std::string(system), std::string(bare)};
  }
  return {std::string(name.substr(0, name.find('_'))), std::string(name)};
}

std::string lttng_event(std::string_view system, std::string_view name) {
  if (system == "syscalls")
    for (const auto& [lttng, kernel] : kSyscallEvents)
      if (name.starts_with(kernel)) return with_beginning(name, kernel, lttng);
  const bool has_it = name.starts_with(system) && name.substr(system.size()).starts_with('_');
  return has_it ? std::string(name) : std::string(system) + "_" + std::string(name);
}

std::string kernel_field(std::string_view system, std::string_view field) {
  if (system == "sched" && has_part(field, "tid")) return with_ending(field, "tid", "pid");
  if (system == "sched" && has_part(field, "pid")) return with_ending(field, "pid", "tgid");
  return std::string(field);
}

std::string lttng_field(std::string_view system, std::string_view field) {
  if (system == "sched" && has_part(field, "pid")) return with_ending(field, "pid", "tid");
  return std::string(field);
}

}  // namespace kmt::ctf
