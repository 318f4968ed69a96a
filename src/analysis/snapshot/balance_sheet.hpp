// SPDX-License-Identifier: GPL-2.0-or-later
// Divides MemTotal into lines, so that each page is counted in exactly one line. The definitions are in
// docs/formats/snapshot-json.md, "The balance sheet".
#pragma once

#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Returns the lines of the sheet. Lines of depth 0 add up to `total`, and lines of depth 1 to the line above them.
// Remarks are not part of these sums.
std::vector<BalanceLine> balance_sheet(const KernelMemory& memory, const std::vector<SlabCacheUse>& caches,
                                       std::uint64_t total);
// False for Linux 4.15 and earlier, which count only huge pages of the default size in meminfo.
bool counts_all_huge_pages(const KernelMemory& memory);

// Returns the lines for a report in the kernel's log. They differ from those of balance_sheet(), because the log
// contains other numbers.
std::vector<BalanceLine> balance_of_log(const KernelMemory& memory, std::uint64_t total);
// Returns the lines for a report about a cgroup that reached its limit. `total` is the usage of the cgroup.
std::vector<BalanceLine> balance_of_cgroup(const KernelMemory& memory, std::uint64_t total);

}  // namespace kmt
