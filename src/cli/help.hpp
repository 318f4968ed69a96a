// SPDX-License-Identifier: GPL-2.0-or-later
// Formats the help of commands. -h prints a short text and --help a long text.
#pragma once

#include <string>

#include "cli/support/options.hpp"

namespace kmt {

// Returns the help of `command` for a terminal with `width` columns. `command` may be the program itself.
std::string help_text(const Command& program, const Command& command, bool is_long, unsigned width);

}  // namespace kmt
