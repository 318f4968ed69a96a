// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the events of a kernel and selects from them.
#pragma once

#include <string>
#include <vector>

namespace kmt {

struct EventName {
  std::string system;  // "kmem"
  std::string name;    // "kmalloc"
  friend bool operator==(const EventName&, const EventName&) = default;
  friend bool operator<(const EventName& a, const EventName& b) {
    return a.system != b.system ? a.system < b.system : a.name < b.name;
  }
};

std::string to_string(const EventName& event);  // "kmem:kmalloc"

// A condition for recording an event, such as "bytes_req > 4096" (Documentation/trace/events.rst, "Event filtering").
struct KernelFilter {
  EventName event;
  std::string expression;
};

// True if the event frees memory that another task may have allocated. Such events are recorded even if the recorder
// itself causes them.
bool frees_memory(const EventName& event);

struct MissingEvent {
  std::string pattern;  // such as "kmem:kmalloc_node"
  std::string reason;
};

struct DefaultEvents {
  std::vector<EventName> present;
  std::vector<MissingEvent> missing;
};

// Returns all events below TRACEFS/events that can be enabled, sorted. Throws Error if the directory is unreadable.
std::vector<EventName> available_events(const std::string& tracefs);

// Returns the events that are recorded by default: all allocations and frees of kernel memory. Missing events are
// determined from tracefs, never from the kernel's version.
DefaultEvents default_events(const std::string& tracefs, const std::vector<EventName>& available);

// Returns the events that show how long tasks wait for memory.
DefaultEvents stall_events(const std::string& tracefs, const std::vector<EventName>& available);

// Returns the events that match a pattern. A pattern is "system:name", with the wildcards * ? […], or "system" for all
// events of a system. If a pattern matches nothing, throws Error with similar names.
std::vector<EventName> select_events(const std::vector<EventName>& available, const std::vector<std::string>& patterns);

}  // namespace kmt
