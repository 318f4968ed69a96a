// SPDX-License-Identifier: GPL-2.0-or-later
// The values of an event class, structures taken apart, and the kernel's way to describe them
// (events/SYSTEM/NAME/format). Variants and optional fields have no place in a ring-buffer record and are left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "formats/ftrace/format_text.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

// Where in an event a value stands.
struct Leaf {
  enum class Scope : std::uint8_t { payload, common_context, specific_context };
  Scope scope = Scope::payload;
  std::vector<std::uint64_t> path;  // indices of members of structures
  const bt_field_class* type = nullptr;
  std::string name;  // as the kernel calls it; that of a context begins with "context_"
  bool is_array() const;
  bool is_string() const;
  bool is_signed() const;
  unsigned bytes = 0;  // of the number or of an array's element: 1, 2, 4 or 8; of a string 1
};

// Of those in a context `tid` is called common_pid, what the kernel calls it; where there is only `vtid`, the id in the
// task's own namespace, that is. The length of an array is not one of them.
std::vector<Leaf> leaves_of(const bt_event_class& event_class, const std::string& system);

// Fixed-width values first in their order, as the kernel lays them out, strings and arrays as __data_loc.
FormatText describe(unsigned id, const std::string& system, const std::string& name, const std::vector<Leaf>& leaves);

// LTTng's contexts callstack-kernel and callstack-user: addresses, innermost first.
inline constexpr const char* kKernelStackContext = "context_callstack_kernel";
inline constexpr const char* kUserStackContext = "context_callstack_user";

// As libtraceevent reads a name.
std::string word(const std::string& name);

}  // namespace kmt::ctf
