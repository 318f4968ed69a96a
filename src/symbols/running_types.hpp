// SPDX-License-Identifier: GPL-2.0-or-later
// Whether types that the user names can be those of the kernel that runs, or that was traced.
#pragma once

#include <optional>
#include <string>

namespace kmt {

// True: the BTF in `file` is known to be the running kernel's; false: it cannot be verified. Throws Error if it cannot
// be read, or differs from the kernel's own in `folder` or, without that, in its build-id (in hex; empty: not known).
bool check_running_types(const std::string& file, const std::string& build_id,
                         const std::string& folder = "/sys/kernel/btf");

// Whether the types in `file` are those of the kernel that runs here, which has its own in `folder`.
bool are_running_types(const std::string& file, const std::string& folder = "/sys/kernel/btf");

// Whether the types in `file` are of the kernel with this build-id (in hex); empty: unknown, as for BTF alone.
std::optional<bool> is_of_kernel(const std::string& file, const std::string& build_id);

}  // namespace kmt
