// SPDX-License-Identifier: GPL-2.0-or-later
// Sheaves: arrays of free objects that SLUB keeps for each CPU, in all caches since Linux 7.0, and in maple_node and
// vm_area_struct in 6.18 and 6.19. slabinfo counts these objects as in use, so the objects in use may grow until all
// sheaves are full, without a leak. Sources: mm/slub.c of Linux 7.2 and 7.3. The computed capacities are equal to
// /sys/kernel/slab/*/sheaf_capacity of all 197 caches of Debian's 6.18.15, and of all 203 caches of its 7.2.12.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "trace/kernel_release.hpp"
#include "trace/state/kernel_memory.hpp"

namespace kmt {

struct SheafMachine {
  KernelVersion version;
  std::uint64_t page_bytes = 4096;
  unsigned word_bytes = 8;
  unsigned cpus = 1;
  unsigned nodes = 1;
};
// Returns the machine of a snapshot. Empty if the snapshot has no kernel release. If it has no zoneinfo, the number of
// CPUs is unknown, and kAssumedCpus is used.
std::optional<SheafMachine> sheaf_machine_of(const KernelMemory& memory);
constexpr unsigned kAssumedCpus = 64;  // more than most machines have, to avoid false positives; chosen

// Returns the number of objects in a full sheaf of a cache that does not request another number
// (calculate_sheaf_capacity()).
std::uint64_t sheaf_capacity(std::uint64_t object_bytes, std::uint64_t page_bytes, unsigned word_bytes);
constexpr std::uint64_t kMostFullSheaves = 10;  // MAX_FULL_SHEAVES: maximum number of full sheaves that a node keeps

constexpr std::uint64_t kSheavesOfCpu = 3;  // main, spare and rcu_free in struct slub_percpu_sheaves

// Returns the number of objects in full sheaves: those of all CPUs, and those that all nodes keep.
constexpr std::uint64_t objects_in_full_sheaves(std::uint64_t capacity, std::uint64_t sheaves_of_cpu,
                                                std::uint64_t cpus, std::uint64_t nodes) {
  return capacity * (sheaves_of_cpu * cpus + kMostFullSheaves * nodes);
}
// Returns how many free objects of a cache may be in sheaves. 0 if the cache has no sheaves.
std::uint64_t most_objects_in_sheaves(std::string_view cache, std::uint64_t object_bytes, const SheafMachine& machine);

// The free objects that all sheaves of a cache can hold. The figures of the cache may grow by this much although
// nothing leaks: its objects in use, and the slabs that they fill.
struct SheafBound {
  std::uint64_t objects = 0;
  std::uint64_t slab_bytes = 0;  // if the objects fill whole slabs: bytes of these slabs
};
// Returns the bound of each cache with sheaves, by name. Empty if the release or the caches are unknown.
std::map<std::string, SheafBound> sheaf_bounds(const KernelMemory& memory);

}  // namespace kmt
