// SPDX-License-Identifier: GPL-2.0-or-later
// Which trace events this kernel has, and which of them are wanted.
#pragma once

#include <string>
#include <vector>

namespace kmt {

struct EventName {
  std::string system;
  std::string name;

  std::string full() const { return system + ":" + name; }
};

// The events that `record` enables when it is not told otherwise, as patterns: all slab and page events. Some exist on
// some kernels only.
const std::vector<std::string>& default_events();

// available_events, in the kernel's order. Throws Error.
std::vector<EventName> available_events(const std::string& tracefs);

// Those that match a pattern: SYSTEM:NAME with globs, or a SYSTEM. Throws Error, with near names, for a pattern that
// matches nothing.
std::vector<EventName> select_events(const std::vector<EventName>& available, const std::vector<std::string>& patterns);
// The same for the defaults, of which any but not all may be missing.
std::vector<EventName> select_default_events(const std::vector<EventName>& available);

}  // namespace kmt
