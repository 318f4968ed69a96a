// SPDX-License-Identifier: GPL-2.0-or-later
// The option --btf of commands with BPF programs or probes: a file with the types of the running kernel.
#pragma once

#include <string>

#include "cli/support/options.hpp"

namespace kmt {

// Adds --btf. `btf` must outlive the command.
void add_types_option(Command& command, std::string& btf);

// Makes BPF programs and probes use the types in `btf`, a file or a folder. Does nothing if `btf` is empty. Throws
// Error if the types are not those of this kernel.
void use_types(const std::string& btf);
// Call this if BPF programs record. If they use a file of types, prints on stderr what they cannot do without types in
// the kernel itself.
void say_types_of_programs();

}  // namespace kmt
