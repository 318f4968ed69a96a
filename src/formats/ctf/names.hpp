// SPDX-License-Identifier: GPL-2.0-or-later
// Converts between LTTng's and the kernel's names of events and fields. LTTng prefixes a name with its system unless
// the name already starts with that system (kmem_kmalloc, but sched_switch). System calls are named like
// syscall_entry_openat. In scheduler events, a task's ID is `tid` and the ID of its process is `pid` (lttng-modules 2.5
// to 2.13).
#pragma once

#include <string>
#include <string_view>

namespace kmt::ctf {

struct KernelEvent {
  std::string system;
  std::string name;
};

// Returns the kernel's name of events that kmemtrace interprets. For other events, the name is unchanged, and the part
// before the first `_` becomes the system. "SYSTEM:NAME", as written by `perf data convert`, is split at the colon.
KernelEvent kernel_event(std::string_view lttng_name);
std::string lttng_event(std::string_view system, std::string_view name);

std::string kernel_field(std::string_view system, std::string_view lttng_field);
std::string lttng_field(std::string_view system, std::string_view field);

}  // namespace kmt::ctf
