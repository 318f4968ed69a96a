// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names of system calls: by number for an architecture (include/uapi/asm/unistd*.h of Linux 6.18, in syscalls/),
// or by the kernel function that implements the call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Returns the name of a system call; "system call 600" if it is unknown. `arch` is a machine name as in uname -m.
// `compat` is true for 32-bit tasks on a 64-bit kernel.
std::string syscall_name(std::string_view arch, std::uint64_t number, bool compat);

// The system call that the name of an event contains: "openat" for sys_enter_openat and sys_exit_openat
// (include/trace/syscall.h, Linux 6.18). "newstat" becomes "stat". LTTng also has events for 32-bit tasks
// (compat_sys_enter_openat). LTTng has one event for all calls with unknown names; `name` is then empty, and the event
// contains the number.
struct SyscallOfEvent {
  bool begins = false;  // true: the event is the start of the call; false: its end
  bool compat = false;
  std::string_view name = {};  // a part of the event's name, or a constant
};
// Returns the system call of an event. `event` is the name of an event in the system `syscalls`. The result is empty
// for other events of this system.
std::optional<SyscallOfEvent> syscall_of_event(std::string_view event);

// The reason why kernel code runs, as far as one function in the stack shows it.
struct KernelEntry {
  enum class Kind : std::uint8_t {
    none,     // nothing
    syscall,  // the function implements the system call `name`
    page_fault,
    exit,  // the task ends
    kernel_thread,
    compat,      // kernel entry for system calls of 32-bit tasks
    dispatcher,  // entry code that calls the function of a system call
    way_back,    // code that prepares the return to the program
    doer,        // does the main work of the system call `name`, whose own function may have no frame
  };
  Kind kind = Kind::none;
  std::string_view name = {};
};
// Returns the reason that a function shows, such as the system call "openat" for "__x64_sys_openat". `name` in the
// result is a part of `function`, or a constant.
KernelEntry kernel_entry(std::string_view function);

}  // namespace kmt
