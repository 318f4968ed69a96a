// SPDX-License-Identifier: GPL-2.0-or-later
// Help texts of commands: short for -h, long for --help.
#pragma once

#include <string>

#include "cli/support/options.hpp"

namespace kmt {

// Returns the help of `command`, or of the program itself, for a terminal with `width` columns.
std::string help_text(const Command& program, const Command& command, bool is_long, unsigned width);

}  // namespace kmt
