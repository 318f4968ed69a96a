// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/state/sheaves.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace kmt {

std::optional<SheafMachine> sheaf_machine_of(const KernelMemory& memory) {
  const auto version = version_of(memory.release);
  if (!version) return std::nullopt;
  SheafMachine machine;
  machine.version = *version;
  machine.page_bytes = memory.page_size;
  const std::string_view name = memory.machine;
  const bool is_32_bit_x86 = name.ends_with("86");
  if (is_32_bit_x86 || name.starts_with("armv")) machine.word_bytes = 4;
  machine.cpus = memory.cpus.value_or(kAssumedCpus);
  if (lacks(memory, "zoneinfo")) machine.cpus = std::max(machine.cpus, kAssumedCpus);  // CPUs may be missing
  std::set<unsigned> nodes;
  for (const MemoryZone& zone : memory.zones) nodes.insert(zone.node);
  machine.nodes = std::max(static_cast<unsigned>(nodes.size()), 1u);
  return machine;
}

// The kernel raises the number until the sheaf fills an object of a kmalloc cache.
std::uint64_t sheaf_capacity(std::uint64_t object_bytes, std::uint64_t page_bytes, unsigned word_bytes) {
  const std::uint64_t least = object_bytes >= page_bytes ? 4
                              : object_bytes >= 1024     ? 12
                              : object_bytes >= 256      ? 26
                                                         : 60;
  const std::uint64_t header = 3 * std::uint64_t{word_bytes} + 8;  // struct slab_sheaf without its objects
  constexpr std::array<std::uint64_t, 6> kKmallocBytes = {64, 96, 128, 192, 256, 512};
  return (*std::ranges::lower_bound(kKmallocBytes, header + least * word_bytes) - header) / word_bytes;
}

std::uint64_t most_objects_in_sheaves(std::string_view cache, std::uint64_t object_bytes, const SheafMachine& machine) {
  if (machine.version < KernelVersion{6, 18} || cache == "kmem_cache" || cache == "kmem_cache_node") return 0;
  constexpr std::uint64_t kRequested = 32;  // kmem_cache_args::sheaf_capacity of these two caches
  const bool requests = cache == "maple_node" || cache == "vm_area_struct";
  const bool all_have_sheaves = machine.version >= KernelVersion{7, 0};
  const std::uint64_t capacity =
      std::max(all_have_sheaves ? sheaf_capacity(object_bytes, machine.page_bytes, machine.word_bytes) : 0,
               requests ? kRequested : 0);
  return objects_in_full_sheaves(capacity, kSheavesOfCpu, machine.cpus, machine.nodes);
}

std::map<std::string, SheafBound> sheaf_bounds(const KernelMemory& memory) {
  std::map<std::string, SheafBound> bounds;
  const auto machine = sheaf_machine_of(memory);
  if (!machine) return bounds;
  for (const SlabInfo& cache : memory.slabs) {
    const std::uint64_t objects = most_objects_in_sheaves(cache.name, cache.object_bytes, *machine);
    if (objects == 0 || cache.objects_per_slab == 0) continue;
    const std::uint64_t slabs = (objects + cache.objects_per_slab - 1) / cache.objects_per_slab;
    bounds[cache.name] = {objects, slabs * cache.pages_per_slab * memory.page_size};
  }
  return bounds;
}

}  // namespace kmt
