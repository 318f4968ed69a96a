// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps a mistaken file name from destroying a file: an output replaces only output of its own kind.
#pragma once

#include <array>

#include "cli/support/options.hpp"

namespace kmt {

// The options that name outputs.
inline constexpr std::array<const char*, 3> kOutputs = {"--output", "OUTPUT", "--html"};

// Adds --force to a command that has an output.
void add_force(Command& command);

// Call it with the parsed command before it runs. Throws Error if an output exists, is not empty and has another kind,
// unless --force is given.
void refuse_other_kinds(const Command& command);

}  // namespace kmt
