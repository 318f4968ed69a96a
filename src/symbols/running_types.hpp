// SPDX-License-Identifier: GPL-2.0-or-later
// Whether types that the user names can be those of the kernel that runs, or that was traced.
#pragma once

#include <optional>
#include <string>

namespace kmt {

// Throws Error where the BTF in `file` cannot be read, or is not the kernel's that has its own in `folder` or, where it
// has none, whose build-id (in hex, empty: not known) another one is in `file`. True: it is known to be the kernel's;
// false: nothing here tells.
bool check_running_types(const std::string& file, const std::string& build_id,
                         const std::string& folder = "/sys/kernel/btf");

// Whether the types in `file` are those of the kernel that runs here, which has its own in `folder`.
bool are_running_types(const std::string& file, const std::string& folder = "/sys/kernel/btf");

// Whether the types in `file` are of the kernel with this build-id (in hex); empty: nothing tells, as of BTF alone.
std::optional<bool> is_of_kernel(const std::string& file, const std::string& build_id);

}  // namespace kmt
