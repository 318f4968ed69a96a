// SPDX-License-Identifier: GPL-2.0-or-later
// Whether /proc/kallsyms shows addresses.
#pragma once

#include <string>
#include <string_view>

namespace kmt {

// False if every address in /proc/kallsyms reads as zero (kernel.kptr_restrict, or no permission).
bool has_addresses(const std::string& kallsyms);
// Advice for that case.
inline constexpr std::string_view kWayToAddresses =
    "it shows them to root, or with CAP_SYSLOG, while sysctl kernel.kptr_restrict is 0 or 1";

}  // namespace kmt
