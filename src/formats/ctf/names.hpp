// SPDX-License-Identifier: GPL-2.0-or-later
// What LTTng calls the kernel's events and fields. It puts the tracepoint's system in front of names that do not begin
// with it (kmalloc: kmem_kmalloc, sched_switch as it is), calls those of system calls syscall_entry_openat, and in
// scheduler events a task's id is `tid` and its process' `pid` (lttng-modules 2.5 to 2.13).
#pragma once

#include <string>
#include <string_view>

namespace kmt::ctf {

struct KernelEvent {
  std::string system;
  std::string name;
};

// Exact for the events that are understood. Others keep their name, and what stands before its first `_` is taken for
// the system. "SYSTEM:NAME", as `perf data convert` writes it, is taken as it is.
KernelEvent kernel_event(std::string_view lttng_name);
std::string lttng_event(std::string_view system, std::string_view name);

std::string kernel_field(std::string_view system, std::string_view lttng_field);
std::string lttng_field(std::string_view system, std::string_view field);

}  // namespace kmt::ctf
