// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out what the running kernel reports about its functions and modules.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// Advice for users if /proc/kallsyms hides addresses.
inline constexpr std::string_view kWayToAddresses =
    "root and processes with CAP_SYSLOG see them if sysctl kernel.kptr_restrict is 0 or 1";

// Returns the directories of the loaded modules, with the lines of module_directories() (trace/code/code_owner.hpp).
// Empty if the modules of the running kernel are not installed.
std::string running_module_directories();

}  // namespace kmt
