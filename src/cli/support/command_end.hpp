// SPDX-License-Identifier: GPL-2.0-or-later
// Describes how the process of COMMAND ended, according to its wait status.
#pragma once

#include <string>

namespace kmt {

// Returns "make exited with 2" or "make was killed by signal 15".
std::string describe_command_end(const std::string& command, int wait_status);

// Returns the exit status of kmemtrace after COMMAND ended. This is the exit status of COMMAND, or 128 + N if signal N
// ended COMMAND, as in a shell.
int passed_on(int wait_status);

}  // namespace kmt
