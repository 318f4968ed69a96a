// SPDX-License-Identifier: GPL-2.0-or-later
// Events that tell what lives in the traced system: tasks that are born (task:task_newtask, sched:sched_process_fork)
// or moved to another cgroup (cgroup:cgroup_attach_task), modules that are loaded and removed (module:module_load,
// module_free). Their fields are those of include/trace/events, Linux 3.4 to 6.18. LTTng
// tells of the processes that live when it begins (lttng_statedump_process_state, lttng-modules 2.5 to 2.13).
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
  std::uint32_t pid = 0;  // of the task that it is about; 4 bytes, as creator, hierarchy and group
  std::uint32_t creator = 0;
  std::uint32_t clone_flags = 0;
  std::uint32_t flags_bytes = 0;  // 4 or 8
  std::uint32_t hierarchy = 0;    // of cgroups
  std::uint32_t group = 0;        // the process of a task
  std::uint32_t text = 0;         // a __data_loc: the cgroup's path, the module's name
};

// Empty for every other event. All fields lie within `least_bytes` afterwards.
std::optional<LifeEvent> life_event(const EventFormat& format, std::uint32_t& least_bytes);

// Fills TraceTasks::lives and module_events. The record has at least `least_bytes`.
void learn_life(const LifeEvent& event, Bytes record, ByteOrder order, std::uint64_t time_ns, TraceInfo& info);

}  // namespace kmt
