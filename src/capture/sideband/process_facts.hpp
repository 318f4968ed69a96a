// SPDX-License-Identifier: GPL-2.0-or-later
// Reads data about live processes from /proc, for the notes "tasks", "tasks_32_bit", "recorder_tasks" and
// "tasks_meanwhile" (docs/formats/kmt.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace kmt {

// Returns lines "PID PARENT PID-SPACE CGROUP" for processes and "TID PID" for their other threads. In a container,
// /proc shows cgroups as "/../../other.scope", relative to the container. If `cgroups` has the cgroups of the whole
// machine, these paths are made absolute. `cgroups` is where cgroup2 is mounted; empty: find it.
std::string describe_processes(const std::string& proc = "/proc", const std::string& cgroups = "");

// Returns the processes that run 32-bit programs, separated by blanks.
std::string list_32_bit_processes(const std::string& proc = "/proc");

// Adds the notes "tasks", "tasks_32_bit" and "pods" at the start of a recording.
void note_processes(std::map<std::string, std::string>& notes);
// Adds the live processes that `notes` lacks, because they started after note_processes(), to the notes `more`. Lists
// all 32-bit programs again. Call it as soon as events about new tasks are recorded.
void note_more_processes(const std::map<std::string, std::string>& notes, std::map<std::string, std::string>& more);

// Returns all threads of a process; none if it has ended. "self" is this process.
std::vector<pid_t> threads_of(std::string_view process);

// Returns the processes that run now, without zombies. The value is true if the process started after `begin_ns`
// (CLOCK_BOOTTIME).
std::map<std::uint32_t, bool> running_processes(std::uint64_t begin_ns, const std::string& proc = "/proc");

// The memory of a process according to /proc/PID/status.
struct ProcessMemory {
  std::uint64_t user_bytes = 0;  // VmRSS and VmSwap; does not include the zero page
  std::uint64_t page_table_bytes = 0;
};
// Returns the memory of a process. Both numbers are 0 if the process has ended.
ProcessMemory memory_of_process(std::uint32_t process, const std::string& proc = "/proc");

// Returns the name of a process, such as "bash". Empty if the process has ended.
std::string name_of_process(std::uint32_t process, const std::string& proc = "/proc");

// Returns the different names of the threads of a process, sorted. At most `most` threads are read. Empty if the
// process has ended.
std::vector<std::string> thread_names_of(std::uint32_t process, std::size_t most, const std::string& proc = "/proc");

// Returns the version 1 cgroup to which a process's memory is charged, such as "/db". Empty if version 1 has no memory
// controller here, or if the process has ended.
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc = "/proc");

}  // namespace kmt
