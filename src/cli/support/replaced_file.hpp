// SPDX-License-Identifier: GPL-2.0-or-later
// Protects existing files if the user mistypes the name of an output. An output replaces only files of the same kind.
#pragma once

#include <array>

#include "cli/support/options.hpp"

namespace kmt {

// Names of the options and arguments that name outputs.
inline constexpr std::array<const char*, 4> kOutputs = {"--output", "OUTPUT", "--html", "--junit"};

// Adds --force to a command that has an output.
void add_force(Command& command);

// Call it with the parsed command before the command runs. Throws Error if an output exists, is not empty and has
// another kind. With --force, any file may be replaced.
void refuse_other_kinds(const Command& command);

}  // namespace kmt
