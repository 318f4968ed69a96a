// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether the types in a file that the user names can be those of the running kernel or of the traced kernel.
#pragma once

#include <optional>
#include <string>

namespace kmt {

// Checks whether the BTF in `file` is that of the running kernel. Compares it with the kernel's own BTF in `folder`. If
// `folder` has no BTF, compares the build ID of the file with `build_id` (in hex, or empty if unknown). Returns false
// if the check is not possible. Throws Error if they differ, or if `file` cannot be read.
bool check_running_types(const std::string& file, const std::string& build_id,
                         const std::string& folder = "/sys/kernel/btf");

// True if the types in `file` are equal to those of the running kernel in `folder`.
bool are_running_types(const std::string& file, const std::string& folder = "/sys/kernel/btf");

// True if the types in `file` belong to the kernel with this build ID (in hex). Returns nothing if this is unknown,
// because a file of plain BTF has no build ID.
std::optional<bool> is_of_kernel(const std::string& file, const std::string& build_id);

}  // namespace kmt
