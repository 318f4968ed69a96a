// SPDX-License-Identifier: GPL-2.0-or-later
// Checks whether types that the user names may be those of the running kernel, or of the traced kernel.
#pragma once

#include <optional>
#include <string>

namespace kmt {

// True if the BTF in `file` is known to be the running kernel's; false if this cannot be verified. Compares the BTF
// with the kernel's own in `folder`. Without that, compares the build IDs (in hex; empty if unknown). Throws Error if
// they differ, or if `file` cannot be read.
bool check_running_types(const std::string& file, const std::string& build_id,
                         const std::string& folder = "/sys/kernel/btf");

// True if the types in `file` are those of the running kernel, whose own types are in `folder`.
bool are_running_types(const std::string& file, const std::string& folder = "/sys/kernel/btf");

// True if the types in `file` are of the kernel with this build ID (in hex). Returns nothing if that is unknown, as for
// plain BTF.
std::optional<bool> is_of_kernel(const std::string& file, const std::string& build_id);

}  // namespace kmt
