// SPDX-License-Identifier: GPL-2.0-or-later
// Events about the life of tasks and modules: births (task:task_newtask, sched:sched_process_fork), moves to another
// cgroup (cgroup:cgroup_attach_task), and modules (module:module_load, module_free). The fields are those of
// include/trace/events, Linux 3.4 to 6.18. LTTng lists the processes alive at its start (lttng_statedump_process_state,
// lttng-modules 2.5 to 2.13).
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
  std::uint32_t pid = 0;  // of the task in question; 4 bytes, as creator, hierarchy and group
  std::uint32_t creator = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // 4 or 8
  std::uint32_t hierarchy = 0;    // of cgroups
  std::uint32_t group = 0;        // the process of a task
  std::uint32_t text = 0;         // a __data_loc: the cgroup's path, the module's name
};

// Empty for every other event. `least_bytes` grows to cover all fields.
std::optional<LifeEvent> life_event(const EventFormat& format, std::uint32_t& least_bytes);

// Fills TraceTasks::lives and module_events. The record has at least `least_bytes`.
void learn_life(const LifeEvent& event, Bytes record, ByteOrder order, std::uint64_t time_ns, TraceInfo& info);

}  // namespace kmt
