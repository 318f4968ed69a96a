// SPDX-License-Identifier: GPL-2.0-or-later
// The tables for the IDs in events. They grow while events are read.
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
  std::vector<std::uint64_t> call_sites = {0};  // addresses
  std::vector<std::string> cache_names = {""};
  StackTable stacks;
  std::vector<FlagName> gfp_flags;  // this kernel's GFP flags in the order in which it prints them; empty: unknown
};

// True if later events may contain the names of earlier tasks. All names are then known only after the whole trace has
// been read.
inline bool may_tell_earlier_names(const std::vector<EventType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const EventType& type) { return type.system == "task" || type.system == "sched"; });
}

}  // namespace kmt
