// SPDX-License-Identifier: GPL-2.0-or-later
// How COMMAND ended, from its wait status.
#pragma once

#include <string>

namespace kmt {

// "make exited with 2", "make was ended by signal 15".
std::string describe_command_end(const std::string& command, int wait_status);

// The exit status that kmemtrace passes on, as a shell does: 128 + N after signal N.
int passed_on(int wait_status);

}  // namespace kmt
