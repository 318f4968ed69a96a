// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/memory_account.hpp"

#include "analysis/snapshot/page_census.hpp"
#include "reading/snapshots.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

MemoryAccount read_account(const KernelDescription& kernel) {
  constexpr unsigned kCostly = 3;    // PAGE_ALLOC_COSTLY_ORDER: the kernel tries less hard for larger allocations
  constexpr unsigned kHugePage = 9;  // a huge page of 2 MiB on x86, and on ARM64 with pages of 4 KiB
  MemoryAccount account{snapshot_of(collect_counters(), kernel), {}};
  for (const MemoryZone& zone : account.snapshot.memory.zones)
    for (const unsigned order : {kCostly, kHugePage})
      if (const auto fragmentation = fragmentation_of(zone, order))
        account.fragmentation.push_back({order, *fragmentation});
  return account;
}

}  // namespace kmt
