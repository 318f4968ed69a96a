// SPDX-License-Identifier: GPL-2.0-or-later
// What /proc says of the processes that live now: the note "tasks" of docs/formats/kmt.md.
#pragma once

#include <string>

namespace kmt {

// Lines "PID PARENT PID-SPACE CGROUP" of processes and "TID PID" of their other threads.
std::string describe_processes(const std::string& proc = "/proc");

}  // namespace kmt
