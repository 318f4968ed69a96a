// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about live processes from /proc: the notes "tasks", "tasks_32_bit" and "recorder_tasks" of docs/formats/kmt.md,
// and "tasks_meanwhile".
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace kmt {

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of their other threads.
std::string describe_processes(const std::string& proc = "/proc");

// Processes of 32-bit programs, separated by blanks.
std::string list_32_bit_processes(const std::string& proc = "/proc");

// Adds both notes, at the start of a recording.
void note_processes(std::map<std::string, std::string>& notes);
// Call it once birth events are recorded: adds processes that the notes lack, born before that. Lists all 32-bit
// programs.
void note_more_processes(const std::map<std::string, std::string>& notes, std::map<std::string, std::string>& more);

// All threads of this process, separated by blanks.
std::string list_own_tasks();

// Returns the cgroup of version 1 that a process' memory counts for: "/db". Empty if version 1 has no such controller
// here, or the process is gone.
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc = "/proc");

}  // namespace kmt
