// SPDX-License-Identifier: GPL-2.0-or-later
// Names of system calls, by the numbers of an architecture (include/uapi/asm/unistd*.h of Linux 6.18, in syscalls/) and
// by the functions of the kernel that do them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// `arch` as uname -m; with `compat` of a 32-bit task on a 64-bit kernel. "system call 600" where no name is known.
std::string syscall_name(std::string_view arch, std::uint64_t number, bool compat);

// The system call that an event has in its name: "openat" of sys_enter_openat and sys_exit_openat (include/trace/
// syscall.h, Linux 6.18), "newstat" being "stat". LTTng has such events of 32-bit tasks too (compat_sys_enter_openat),
// and one for all numbers that it knows no name of: `name` is empty then, and the event has the number.
struct SyscallOfEvent {
  bool begins = false;  // or else ends
  bool compat = false;
  std::string_view name = {};  // a part of the event's, or static
};
// For an event of the system `syscalls`; empty for other events.
std::optional<SyscallOfEvent> syscall_of_event(std::string_view event);

// The reason why the kernel runs, from a function in its stack.
struct KernelEntry {
  enum class Kind : std::uint8_t {
    none,     // nothing
    syscall,  // it does the system call `name`
    page_fault,
    exit,  // the end of a task
    kernel_thread,
    compat,      // the way into the kernel of a 32-bit task's system call
    dispatcher,  // it calls the function of a system call
    way_back,    // it prepares the return to the program
    doer,        // it does most of the system call `name`, and some call it instead of having a frame themselves
  };
  Kind kind = Kind::none;
  std::string_view name = {};
};
// "__x64_sys_openat" does "openat". The name is borrowed from the function's, or static.
KernelEntry kernel_entry(std::string_view function);

}  // namespace kmt
