// SPDX-License-Identifier: GPL-2.0-or-later
// The file that describes the running kernel's types (BTF), for kernels that do not describe them themselves.
#pragma once

#include <string>

namespace kmt {

// Makes all BPF programs of this process use the types in `path` instead of the kernel's own. The caller checks that
// they can be this kernel's types. Call it before any program is opened.
void use_types_file(std::string path);

// Returns the path given to use_types_file(); empty if the kernel's own types are used.
const std::string& types_file();

}  // namespace kmt
