// SPDX-License-Identifier: GPL-2.0-or-later
// The tables that the IDs in events refer to. They grow while events are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/event.hpp"
#include "trace/gfp_flags.hpp"
#include "trace/stack_table.hpp"

namespace kmt {

struct EventType {
  std::string system;  // "kmem"
  std::string name;    // "kmalloc"
  EventKind kind = EventKind::other;
};

struct TraceTables {
  std::vector<EventType> event_types;
  std::vector<std::uint64_t> call_sites = {0};  // addresses of the call sites
  std::vector<std::string> cache_names = {""};
  StackTable stacks;
  // GFP flags of this kernel, in the order in which the kernel prints them; empty: unknown.
  std::vector<FlagName> gfp_flags;
};

// True if later events may contain earlier names of tasks. The names of all tasks are then known only when the whole
// trace has been read.
inline bool may_tell_earlier_names(const std::vector<EventType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const EventType& type) { return type.system == "task" || type.system == "sched"; });
}

}  // namespace kmt
