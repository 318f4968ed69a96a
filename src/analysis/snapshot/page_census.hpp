// SPDX-License-Identifier: GPL-2.0-or-later
// Compares a census of page frames with the counters of the kernel that were read just before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "results/snapshot/page_census.hpp"
#include "results/snapshot/snapshot.hpp"

namespace kmt {

// Returns the order of the largest free blocks that the page allocator keeps, from buddyinfo. If it is unknown, returns
// the kernel's default.
unsigned largest_free_order(const KernelMemory& memory);

// Adds to a census the comparison with the balance sheet, the fragmentation of the zones, and notes about limits.
// MemTotal must be known.
void compare_with_counters(const SnapshotResult& snapshot, PageCensus& census);

// Returns the fragmentation of a zone for an allocation of this order. `free` has the number of free blocks by order.
// Empty if nothing is free. The formulas are those of unusable_free_index() and __fragmentation_index() in mm/vmstat.c
// of the kernel. Their results are not rounded to thousandths.
std::optional<ZoneFragmentation> fragmentation_of(const MemoryZone& zone, unsigned order);

// Sets the paths of the cgroups from their inode numbers.
void name_cgroups(const std::unordered_map<std::uint64_t, std::string>& paths, PageCensus& census);

}  // namespace kmt
