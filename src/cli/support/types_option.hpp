// SPDX-License-Identifier: GPL-2.0-or-later
// The option --btf of commands with BPF programs or probes: a file with the types of the running kernel.
#pragma once

#include <cstdint>
#include <string>

#include "cli/support/options.hpp"

namespace kmt {

// Adds --btf. `btf` must outlive the command.
void add_types_option(Command& command, std::string& btf);

enum class TypesUse : std::uint8_t { programs, probes };  // BPF programs, or kprobe events

// Makes BPF programs and probes use the types in `btf`, a file or a folder. Does nothing if `btf` is empty. If BPF
// programs use them, prints on stderr what these cannot do without types in the kernel itself. Throws Error if the
// types are not those of this kernel.
void use_types(const std::string& btf, TypesUse use = TypesUse::programs);

}  // namespace kmt
