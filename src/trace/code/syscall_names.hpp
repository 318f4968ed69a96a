// SPDX-License-Identifier: GPL-2.0-or-later
// Names of system calls. Found by number for an architecture (include/uapi/asm/unistd*.h of Linux 6.18, in syscalls/),
// or by the kernel function that implements the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Returns the name of a system call; "system call 600" if it is unknown. `arch` is as in uname -m. `compat` is true for
// 32-bit tasks on a 64-bit kernel.
std::string syscall_name(std::string_view arch, std::uint64_t number, bool compat);

// The system call in the name of an event: "openat" for sys_enter_openat and sys_exit_openat (include/trace/syscall.h,
// Linux 6.18). "newstat" becomes "stat". LTTng also has events for 32-bit tasks (compat_sys_enter_openat). LTTng uses
// one event for all numbers without a known name: `name` is then empty, and the event contains the number.
struct SyscallOfEvent {
  bool begins = false;  // false: the call ends
  bool compat = false;
  std::string_view name = {};  // part of the event's name, or static
};
// `event` is the name of an event in the system `syscalls`. Empty for other events.
std::optional<SyscallOfEvent> syscall_of_event(std::string_view event);

// The reason why kernel code runs, according to a function in its stack.
struct KernelEntry {
  enum class Kind : std::uint8_t {
    none,     // nothing
    syscall,  // implements the system call `name`
    page_fault,
    exit,  // end of a task
    kernel_thread,
    compat,      // entry for system calls of 32-bit tasks
    dispatcher,  // calls the function of a system call
    way_back,    // prepares the return to the program
    doer,        // does the main work of the system call `name`, whose own frame may be missing
  };
  Kind kind = Kind::none;
  std::string_view name = {};
};
// Returns the reason for a function, such as the system call "openat" for "__x64_sys_openat". The name is borrowed from
// `function`, or static.
KernelEntry kernel_entry(std::string_view function);

}  // namespace kmt
