// SPDX-License-Identifier: GPL-2.0-or-later
// What /proc says of the processes that live now: the note "tasks" of docs/formats/kmt.md.
#pragma once

#include <cstdint>
#include <string>

namespace kmt {

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of their other threads.
std::string describe_processes(const std::string& proc = "/proc");

// The cgroup of version 1 that a process' memory counts for: "/db". Empty: version 1 has no such controller here, or
// the process is gone.
std::string memory_cgroup_of(std::uint32_t process, const std::string& proc = "/proc");

}  // namespace kmt
