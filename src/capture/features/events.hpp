// SPDX-License-Identifier: GPL-2.0-or-later
// The events that a kernel offers, and choosing among them.
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

// What of an event shall be recorded: "bytes_req > 4096" (Documentation/trace/events.rst, "Event filtering").
struct KernelFilter {
  EventName event;
  std::string expression;
};

// True if the event frees memory that others may have allocated. Such frees by the recorder itself are recorded.
bool frees_memory(const EventName& event);

struct MissingEvent {
  std::string pattern;  // "kmem:kmalloc_node"
  std::string reason;
};

struct DefaultEvents {
  std::vector<EventName> present;
  std::vector<MissingEvent> missing;
};

// All events below TRACEFS/events that can be enabled, sorted; throws Error when the directory cannot be read.
std::vector<EventName> available_events(const std::string& tracefs);

// What is recorded when nothing is asked for: every allocation and free of kernel memory. What is missing is found
// by looking at what this kernel has, never by its version.
DefaultEvents default_events(const std::string& tracefs, const std::vector<EventName>& available);

// The events that any of the patterns ("system:name", with the wildcards * ? […]; a bare "system" means all of it)
// names. Throws Error with near names when a pattern names none.
std::vector<EventName> select_events(const std::vector<EventName>& available, const std::vector<std::string>& patterns);

}  // namespace kmt
