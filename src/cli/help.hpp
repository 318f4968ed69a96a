// SPDX-License-Identifier: GPL-2.0-or-later
// Formats the help of commands: a short text for -h and a long text for --help.
#pragma once

#include <string>

#include "cli/support/options.hpp"

namespace kmt {

// Returns the help of `command` for a terminal with `width` columns. `command` may be the program itself.
std::string help_text(const Command& program, const Command& command, bool is_long, unsigned width);

}  // namespace kmt
