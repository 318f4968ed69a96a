// SPDX-License-Identifier: GPL-2.0-or-later
// Help texts from the app's own options: short for -h, long for --help (see commands.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace kmt {

// Lays help out for a terminal of that many columns.
std::shared_ptr<CLI::FormatterBase> help_formatter(unsigned width);

// What stands for an option in texts: its long name, else its short one, else its place's name.
std::string option_name(const CLI::Option& option);

}  // namespace kmt
