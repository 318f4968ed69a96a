// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace kmt {

// Starts this program with other arguments. The first argument is the name of the program. Its standard output is
// discarded. Returns the process ID. Throws Error.
pid_t start_own_program(std::vector<std::string> arguments);

}  // namespace kmt
