// SPDX-License-Identifier: GPL-2.0-or-later
// What /proc says of the processes that live now: the notes "tasks", "tasks_32_bit" and
// "recorder_tasks" of docs/formats/kmt.md, and "tasks_meanwhile".
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
// When events tell of births: those that are not in the notes and may have been born before. Of 32-bit programs, all.
void note_more_processes(const std::map<std::string, std::string>& notes, std::map<std::string, std::string>& more);

// All threads that this process has now, likewise.
std::string list_own_tasks();

// The cgroup of version 1 that a process' memory counts for: "/db". Empty: version 1 has no such controller here, or
// the process is gone.
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc = "/proc");

}  // namespace kmt
