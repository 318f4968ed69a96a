// SPDX-License-Identifier: GPL-2.0-or-later
// Sheaves: arrays of free objects that SLUB keeps for each CPU, in all caches since Linux 7.0, and in maple_node and
// vm_area_struct in 6.18 and 6.19. slabinfo counts these objects as in use. So the objects in use of a cache may grow
// by this number although nothing leaks. Sources: mm/slub.c of Linux 7.2 and 7.3. The computed capacities are equal to
// /sys/kernel/slab/*/sheaf_capacity of all 197 caches of Debian's 6.18.15, and of all 203 caches of its 7.2.12.
#pragma once

#include <cstdint>
#include <optional>
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
constexpr unsigned kAssumedCpus = 64;  // more than most machines have, so growth there is not called certain; chosen

// Returns the number of objects in a full sheaf of a cache that does not request another number
// (calculate_sheaf_capacity()).
std::uint64_t sheaf_capacity(std::uint64_t object_bytes, std::uint64_t page_bytes, unsigned word_bytes);
constexpr std::uint64_t kMostFullSheaves = 10;  // MAX_FULL_SHEAVES: maximum number of full sheaves that a node keeps

// Returns how many free objects of a cache may be in sheaves. 0 if the cache has no sheaves. Each CPU has three sheaves
// (main, spare and rcu_free in struct slub_percpu_sheaves).
std::uint64_t most_objects_in_sheaves(std::string_view cache, std::uint64_t object_bytes, const SheafMachine& machine);

}  // namespace kmt
