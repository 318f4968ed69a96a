// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the command line by the tables of the commands.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"

namespace kmt {

enum class Wanted { run, help, long_help, version };

struct ParsedLine {
  Wanted wanted = Wanted::run;
  const Command* command = nullptr;  // the program itself if no command was named
};

// Sets the options' targets and records the given options. Throws Error.
ParsedLine parse_command_line(Command& program, std::vector<std::string> arguments);

}  // namespace kmt
