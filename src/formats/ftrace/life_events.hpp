// SPDX-License-Identifier: GPL-2.0-or-later
// Reads events about the lifetime of tasks and modules: births (task:task_newtask, sched:sched_process_fork), moves to
// another cgroup (cgroup:cgroup_attach_task), and modules (module:module_load, module_free). The fields are as in
// include/trace/events, Linux 3.4 to 6.18. LTTng lists the processes that are alive when its trace starts
// (lttng_statedump_process_state, lttng-modules 2.5 to 2.13).
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct LifeEvent {
  enum class Kind : std::uint8_t { new_task, fork, attach, module_load, module_free, process_state };
  Kind kind = Kind::new_task;
  std::uint32_t pid = 0;  // offset of the task's ID, in bytes; this field, creator, hierarchy and group have 4 bytes
  std::uint32_t creator = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // size of the field clone_flags: 4 or 8
  std::uint32_t hierarchy = 0;    // offset of the cgroup hierarchy's ID
  std::uint32_t group = 0;        // offset of the ID of the process to which the task belongs
  std::uint32_t text = 0;         // offset in bytes of a __data_loc with the cgroup's path or the module's name
};

// Returns the field offsets if the format is one of these events. Raises `least_bytes` to the size of a record that has
// all these fields.
std::optional<LifeEvent> life_event(const EventFormat& format, std::uint32_t& least_bytes);

// Adds the event to TraceTasks::lives or module_events. The record must have at least `least_bytes` bytes.
void learn_life(const LifeEvent& event, Bytes record, ByteOrder order, std::uint64_t time_ns, TraceInfo& info);

}  // namespace kmt
