// SPDX-License-Identifier: GPL-2.0-or-later
// The values of an event class, with structures flattened, and their description in the kernel's form
// (events/SYSTEM/NAME/format). Ring-buffer records cannot hold variants and optional fields, which are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "formats/ftrace/format_text.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

// The place of a value in an event.
struct Leaf {
  enum class Scope : std::uint8_t { payload, common_context, specific_context };
  Scope scope = Scope::payload;
  std::vector<std::uint64_t> path;  // indices of members of structures
  const bt_field_class* type = nullptr;
  std::string name;  // the kernel's name; "context_" precedes that of a context
  bool is_array() const;
  bool is_string() const;
  bool is_signed() const;
  unsigned bytes = 0;  // of the number or of an array's element: 1, 2, 4 or 8; of a string 1
};

// A context `tid` becomes common_pid, the kernel's name; without it `vtid`, the ID in the task's own namespace, does.
// An array's length is not a leaf.
std::vector<Leaf> leaves_of(const bt_event_class& event_class, const std::string& system);

// Fixed-width values come first, in order, as the kernel lays them out; strings and arrays follow as __data_loc.
FormatText describe(unsigned id, const std::string& system, const std::string& name, const std::vector<Leaf>& leaves);

// LTTng's contexts callstack-kernel and callstack-user: addresses, innermost first.
inline constexpr const char* kKernelStackContext = "context_callstack_kernel";
inline constexpr const char* kUserStackContext = "context_callstack_user";

// Returns a name in the characters that libtraceevent accepts.
std::string word(const std::string& name);

}  // namespace kmt::ctf
