// SPDX-License-Identifier: GPL-2.0-or-later
// Lists the values of a CTF event class, including those in nested structures. Describes them in the kernel's form
// (events/SYSTEM/NAME/format). Variants and optional fields are dropped, because ring-buffer records cannot contain
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "formats/ftrace/format_text.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

// Locates one value in an event.
struct Leaf {
  enum class Scope : std::uint8_t { payload, common_context, specific_context };
  Scope scope = Scope::payload;
  std::vector<std::uint64_t> path;  // index of the member in each structure, outermost structure first
  const bt_field_class* type = nullptr;
  std::string name;  // the kernel's name; context fields have the prefix "context_"
  bool is_array() const;
  bool is_string() const;
  bool is_signed() const;
  unsigned bytes = 0;  // size of the number or array element: 1, 2, 4 or 8; 1 for a string
};

// Returns the fields of an event, without the length fields of arrays. The context `tid` gets the kernel's name
// common_pid. If `tid` is missing, `vtid` is used instead, which is the task's ID in its own PID namespace.
std::vector<Leaf> leaves_of(const bt_event_class& event_class, const std::string& system);

// Returns the format description of an event. Values of fixed width come first. Strings and arrays follow as
// __data_loc.
FormatText describe(unsigned id, const std::string& system, const std::string& name, const std::vector<Leaf>& leaves);

// Names of the leaves for LTTng's contexts callstack-kernel and callstack-user. The values are arrays of addresses,
// innermost first.
inline constexpr const char* kKernelStackContext = "context_callstack_kernel";
inline constexpr const char* kUserStackContext = "context_callstack_user";

// Replaces characters that libtraceevent does not accept in a name.
std::string word(const std::string& name);

}  // namespace kmt::ctf
