// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the command line with the tables of commands and options.
#pragma once

#include <string>
#include <vector>

#include "cli/support/options.hpp"

namespace kmt {

enum class Wanted { run, help, long_help, version };

struct ParsedLine {
  Wanted wanted = Wanted::run;
  const Command* command = nullptr;  // the command that was named; if none was named, the program itself
};

// Sets the targets of the options and records which options were given. Throws Error.
ParsedLine parse_command_line(Command& program, std::vector<std::string> arguments);

}  // namespace kmt
