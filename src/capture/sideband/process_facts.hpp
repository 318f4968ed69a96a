// SPDX-License-Identifier: GPL-2.0-or-later
// What /proc says of the processes that live now: the notes "tasks", "tasks_32_bit" and
// "recorder_tasks" of docs/formats/kmt.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kmt {

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of their other threads.
std::string describe_processes(const std::string& proc = "/proc");

// Processes of 32-bit programs, with blanks between them.
std::string list_32_bit_processes(const std::string& proc = "/proc");

// Both, as it is when a recording begins.
void note_processes(std::map<std::string, std::string>& notes);

// All threads that this process has now, likewise.
std::string list_own_tasks();

// The cgroup of version 1 that a process' memory counts for: "/db". Empty: version 1 has no such controller here, or
// the process is gone.
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc = "/proc");

}  // namespace kmt
