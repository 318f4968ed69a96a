// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/snapshot.hpp"

#include <array>

namespace kmt {

namespace {

Cell if_known(const SlabCacheUse& cache, std::optional<std::uint64_t> SlabAttributes::*number) {
  if (cache.attributes == nullptr || !(cache.attributes->*number)) return {};
  return *(cache.attributes->*number);
}

// Returns a number of objects or slabs. Empty for caches from the kernel's log, which reports only bytes.
Cell if_counted(const SlabCacheUse& cache, std::uint64_t number) {
  return cache.object_bytes == 0 ? Cell() : Cell(number);
}

constexpr std::array<Column<SlabCacheUse>, 13> kSnapshotColumns = {{
    {"name", "Cache", Unit::text, 0, [](const SlabCacheUse& r) { return Cell(std::string_view(r.name)); },
     "the cache; for merged caches, the name in slabinfo"},
    {"held", "Held", Unit::bytes, 0, [](const SlabCacheUse& r) { return Cell(r.bytes); }, "bytes of the cache's slabs"},
    {"in-use", "In use", Unit::bytes, 0, [](const SlabCacheUse& r) { return Cell(r.in_use); },
     "bytes of objects in use, including free objects that CPUs keep (since Linux 7.0 in sheaves)"},
    {"free", "Empty", Unit::bytes, 1, [](const SlabCacheUse& r) { return Cell(r.free); }, "bytes held by free objects"},
    {"padding", "Padding", Unit::bytes, 3, [](const SlabCacheUse& r) { return Cell(r.padding); },
     "bytes of alignment and metadata in objects"},
    {"tails", "Tails", Unit::bytes, 4, [](const SlabCacheUse& r) { return Cell(r.tails); },
     "unused bytes at the ends of slabs, too few for an object"},
    {"objects", "Objects", Unit::count, 1, [](const SlabCacheUse& r) { return if_counted(r, r.active_objects); },
     "objects in use, including free objects that CPUs keep (since Linux 7.0 in sheaves)"},
    {"size", "Size", Unit::bytes, 2, [](const SlabCacheUse& r) { return if_counted(r, r.object_bytes); },
     "bytes of an object with padding"},
    {"slabs", "Slabs", Unit::count, 3, [](const SlabCacheUse& r) { return if_counted(r, r.slabs); }, "number of slabs"},
    {"partial", "Partial", Unit::count, 4, [](const SlabCacheUse& r) { return if_known(r, &SlabAttributes::partial); },
     "slabs with free objects on the lists of the NUMA nodes"},
    {"cpu-slabs", "On CPUs", Unit::count, 5,
     [](const SlabCacheUse& r) { return if_known(r, &SlabAttributes::cpu_slabs); }, "slabs held by CPUs"},
    {"merged", "Merged", Unit::count, 3, [](const SlabCacheUse& r) { return Cell(std::uint64_t{r.aliases.size()}); },
     "number of caches merged into this cache"},
    {"order", "Order", Unit::order, 5, [](const SlabCacheUse& r) { return if_known(r, &SlabAttributes::order); },
     "page order of a slab"},
}};

// Lines of memory.stat that add up to kernel memory. Since Linux 5.18, memory.stat has this sum as the line "kernel".
constexpr std::array<std::string_view, 6> kKernelParts = {"kernel_stack", "pagetables", "sec_pagetables",
                                                          "percpu",       "slab",       "vmalloc"};

constexpr std::array<SnapshotPartText, kSnapshotParts.size()> kParts = {{
    {"balance", "Balance sheet", "Line"},
    {"slab_caches", "Slab caches", "Cache"},
    {"vmalloc", "vmalloc by caller", "Function"},
    {"allocinfo", "Call sites (allocinfo)", "Site"},
    {"cgroups", "Cgroups", "Cgroup, with children"},
    {"dying_cgroups", "Removed cgroups that still hold memory", "Below"},
    {"slab_allocations", "Slab objects by allocating call site (alloc_traces)", "Site"},
    {"page_owners", "Pages by allocating stack (page_owner)", "Site"},
    {"owners", "Owners of unaccounted memory", "Owner"},
    {"page_blocks", "Page frames by kind and order", "Kind"},
    {"page_flags", "Other kernel pages by flags", "Flags"},
    {"nodes", "Memory by NUMA node", "Node"},
}};

}  // namespace

const SnapshotPartText& describe(SnapshotPart part) { return kParts[static_cast<std::size_t>(part)]; }

std::unordered_map<std::string_view, const SlabCacheUse*> caches_by_name(const std::vector<SlabCacheUse>& caches) {
  std::unordered_map<std::string_view, const SlabCacheUse*> named;
  for (const SlabCacheUse& cache : caches) {
    named.emplace(cache.name, &cache);
    for (const std::string& alias : cache.aliases) named.emplace(alias, &cache);
    if (cache.attributes != nullptr) named.emplace(cache.attributes->name, &cache);
  }
  return named;
}

std::span<const Column<SlabCacheUse>> slab_cache_columns() { return kSnapshotColumns; }

std::optional<std::uint64_t> kernel_bytes(const CgroupMemory& cgroup) {
  if (const auto kernel = find_number(cgroup.values, "kernel")) return kernel;
  if (const auto kernel = find_number(cgroup.values, "kmem.usage_in_bytes")) return kernel;  // version 1
  std::optional<std::uint64_t> sum;
  for (const std::string_view part : kKernelParts)
    if (const auto value = find_number(cgroup.values, part)) sum = sum.value_or(0) + *value;
  return sum;
}

// Returns the user memory of a cgroup. In cgroups of version 1, only the lines "total_…" include child cgroups.
std::optional<std::uint64_t> user_bytes(const CgroupMemory& cgroup) {
  const auto sum_of_lines = [&](std::string_view a, std::string_view b) -> std::optional<std::uint64_t> {
    const auto first = find_number(cgroup.values, a);
    const auto second = find_number(cgroup.values, b);
    if (!first && !second) return std::nullopt;
    return first.value_or(0) + second.value_or(0);
  };
  if (const auto sum = sum_of_lines("anon", "file")) return sum;
  if (const auto sum = sum_of_lines("total_rss", "total_cache")) return sum;
  return sum_of_lines("rss", "cache");
}

}  // namespace kmt
