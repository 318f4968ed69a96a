// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names of system calls, either by number and architecture, or by the kernel function that implements the call.
// The numbers are in syscalls/ (from include/uapi/asm/unistd*.h of Linux 6.18).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kmt {

// Returns the name of a system call; "system call 600" if it is unknown. `arch` is a machine name as in uname -m.
// `compat` is true for 32-bit tasks on a 64-bit kernel.
std::string syscall_name(std::string_view arch, std::uint64_t number, bool compat);

// The system call in the name of an event: "openat" for sys_enter_openat and sys_exit_openat (include/trace/syscall.h,
// Linux 6.18). The name "newstat" becomes "stat". LTTng also has events for system calls of 32-bit tasks
// (compat_sys_enter_openat). LTTng has one event for all system calls whose names it does not know. For this event,
// `name` is empty, and a field of the event contains the number.
struct SyscallOfEvent {
  bool begins = false;  // true: the event is the start of the call; false: its end
  bool compat = false;
  std::string_view name = {};  // the name points into the event's name, or to a constant
};
// Returns the system call of an event. `event` is the name of an event in the system `syscalls`. The result is empty
// for other events of this system.
std::optional<SyscallOfEvent> syscall_of_event(std::string_view event);

// The reason why kernel code runs, such as a system call. It is derived from the name of one function in the stack.
struct KernelEntry {
  enum class Kind : std::uint8_t {
    none,     // the name shows no reason
    syscall,  // the function implements the system call `name`
    page_fault,
    exit,  // the task is exiting
    kernel_thread,
    compat,      // kernel entry function for system calls of 32-bit tasks
    dispatcher,  // entry code that calls the function of a system call
    way_back,    // code that prepares the return to the program
    doer,  // function that does the main work of the system call `name`; the call's own function may have no frame
  };
  Kind kind = Kind::none;
  std::string_view name = {};
};
// Derives the reason from a function's name. For example, "__x64_sys_openat" means the system call "openat".
// `name` in the result points into `function`, or to a constant.
KernelEntry kernel_entry(std::string_view function);

}  // namespace kmt
