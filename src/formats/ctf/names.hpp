// SPDX-License-Identifier: GPL-2.0-or-later
// LTTng's names of the kernel's events and fields. It prefixes a name with its system unless the name starts with it
// (kmem_kmalloc, but sched_switch). System calls are syscall_entry_openat. In scheduler events a task's ID is `tid` and
// its process' is `pid` (lttng-modules 2.5 to 2.13).
#pragma once

#include <string>
#include <string_view>

namespace kmt::ctf {

struct KernelEvent {
  std::string system;
  std::string name;
};

// Exact for interpreted events. Others keep their name, and the part before the first `_` counts as the system.
// "SYSTEM:NAME", as `perf data convert` writes it, stays unchanged.
KernelEvent kernel_event(std::string_view lttng_name);
std::string lttng_event(std::string_view system, std::string_view name);

std::string kernel_field(std::string_view system, std::string_view lttng_field);
std::string lttng_field(std::string_view system, std::string_view field);

}  // namespace kmt::ctf
