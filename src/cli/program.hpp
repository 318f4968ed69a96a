// SPDX-License-Identifier: GPL-2.0-or-later
// The commands of the program. A build has either all commands (all_commands.cpp) or only those of the recorder
// (recorder_commands.cpp).
#pragma once

#include <string_view>

#include "cli/support/options.hpp"

namespace kmt {

// Adds the texts of the help, the commands and the option --version. `program` must outlive its commands.
void add_commands(Command& program);

// False if only the full program has the command.
bool has_command(std::string_view name);
// Throws Error if only the full program has the command.
void refuse_absent_command(std::string_view name);

}  // namespace kmt
