// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/simulation/slab_geometry.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace kmt {

namespace {

// Maximum order (2^order pages) unless an object needs more: PAGE_ALLOC_COSTLY_ORDER.
constexpr unsigned kCostlyOrder = 3;
// Maximum number of objects in a slab (MAX_OBJS_PER_PAGE): 15 bits of struct slab.
constexpr std::uint64_t kMostObjects = 32767;

constexpr std::uint64_t aligned(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

// Returns the order of the smallest block of pages with this many bytes, like get_order().
unsigned order_of(std::uint64_t bytes, std::uint64_t page_bytes) {
  const std::uint64_t pages = std::max<std::uint64_t>((bytes + page_bytes - 1) / page_bytes, 1);
  return static_cast<unsigned>(std::bit_width(pages - 1));
}

bool wastes_little(std::uint64_t bytes, unsigned order, std::uint64_t fraction, const SlabMachine& machine) {
  const std::uint64_t slab = machine.page_bytes << order;
  return slab % bytes <= slab / fraction;
}

std::optional<unsigned> order_between(unsigned least, std::uint64_t bytes, std::uint64_t fraction,
                                      const SlabMachine& machine) {
  for (unsigned order = least; order <= kCostlyOrder; ++order)
    if (wastes_little(bytes, order, fraction, machine)) return order;
  return std::nullopt;
}

unsigned slub_order(std::uint64_t bytes, const SlabMachine& machine) {
  const std::uint64_t page = machine.page_bytes;
  const unsigned whole = order_of(bytes, page);
  const std::uint64_t most = (page << kCostlyOrder) / bytes;
  std::uint64_t objects = 4 * (static_cast<std::uint64_t>(std::bit_width(std::max(machine.cpus, 1u))) + 1);
  objects = std::min(objects, std::max<std::uint64_t>(most, 1));
  if (page / bytes > kMostObjects) return order_of(bytes * kMostObjects, page) - 1;
  if (machine.version >= KernelVersion{6, 8}) {
    for (const std::uint64_t fraction : {16u, 8u, 4u, 2u})
      if (const auto order = order_between(order_of(objects * bytes, page), bytes, fraction, machine)) return *order;
    return whole;
  }
  for (; objects > 1; --objects)
    for (const std::uint64_t fraction : {16u, 8u, 4u})
      if (const auto order = order_between(order_of(objects * bytes, page), bytes, fraction, machine)) return *order;
  return whole;
}

SlabGeometry of_order(std::uint64_t bytes, unsigned order, const SlabMachine& machine) {
  const std::uint64_t slab = machine.page_bytes << order;
  return {bytes, slab, static_cast<std::uint32_t>(slab / bytes), order};
}

}  // namespace

SlabMachine slab_machine_of(const TraceInfo& info) {
  SlabMachine machine;
  if (const auto version = version_of(info.machine.kernel)) machine.version = *version;
  machine.arch = info.machine.arch;
  if (info.machine.page_size != 0) machine.page_bytes = info.machine.page_size;
  machine.word_bytes = info.machine.word_bits / 8;
  constexpr unsigned kMostCpus = 8192;  // NR_CPUS in the largest kernel configurations
  machine.cpus = std::clamp(info.machine.cpus, 1u, kMostCpus);
  machine.cpu_nodes = info.machine.cpu_nodes;
  return machine;
}

SlabGeometry slub_geometry(std::uint64_t object_bytes, const SlabMachine& machine) {
  const std::uint64_t bytes = std::max<std::uint64_t>(object_bytes, 1);
  return of_order(bytes, slub_order(bytes, machine), machine);
}

SlabGeometry slab_geometry(std::uint64_t object_bytes, const SlabMachine& machine) {
  constexpr unsigned kMostOrder = 1;  // value of slab_max_order (2^order pages) on machines with more than 32 MiB
  const std::uint64_t bytes = std::max<std::uint64_t>(object_bytes, 1);
  const std::uint64_t index_bytes = machine.page_bytes > 4096 ? 2 : 1;     // freelist_idx_t
  const std::uint64_t most = (std::uint64_t{1} << (8 * index_bytes)) - 1;  // SLAB_OBJ_MAX_NUM
  const auto best = [&](std::uint64_t bytes_each) {
    SlabGeometry geometry = of_order(bytes, order_of(bytes_each, machine.page_bytes), machine);
    for (unsigned order = geometry.order;; ++order) {
      const std::uint64_t slab = machine.page_bytes << order;
      const std::uint64_t objects = slab / bytes_each;
      if (objects > most && order > geometry.order) break;
      geometry = {bytes, slab, static_cast<std::uint32_t>(std::min(objects, most)), order};
      if (order >= kMostOrder || (slab - objects * bytes_each) * 8 <= slab) break;
    }
    return geometry;
  };
  const SlabGeometry inside = best(bytes);
  return inside.objects * index_bytes <= bytes ? inside : best(bytes + index_bytes);
}

SlubReserves slub_reserves(const SlabGeometry& geometry, const SlabMachine& machine) {
  SlubReserves reserves;
  const std::uint64_t bytes = geometry.object_bytes;
  reserves.min_partial = std::clamp(static_cast<std::uint32_t>(std::bit_width(bytes) - 1) / 2, 5u, 10u);
  const std::size_t size = bytes >= machine.page_bytes ? 0 : bytes >= 1024 ? 1 : bytes >= 256 ? 2 : 3;
  if (machine.version >= KernelVersion{5, 16}) {
    constexpr std::array<std::uint32_t, 4> kObjects = {6, 24, 52, 120};
    // Assumes that slabs are half full, as the kernel does.
    reserves.cpu_partial = (kObjects[size] * 2 + geometry.objects - 1) / geometry.objects;
    reserves.most_cpu_slabs = 1 + std::uint64_t{reserves.cpu_partial};
  } else {
    constexpr std::array<std::uint32_t, 4> kObjects = {2, 6, 13, 30};
    reserves.cpu_partial = kObjects[size];
    reserves.counts_objects = true;
    // Maximum number of slabs; reached if each slab has only one free object.
    reserves.most_cpu_slabs = 2 + std::uint64_t{reserves.cpu_partial};
  }
  return reserves;
}

SheafMachine sheaf_machine_of(const SlabMachine& machine) {
  std::set<unsigned> nodes;
  for (unsigned cpu = 0; cpu < machine.cpus; ++cpu) nodes.insert(machine.node_of(cpu));
  return {machine.version, machine.page_bytes, machine.word_bytes, machine.cpus, static_cast<unsigned>(nodes.size())};
}

std::uint64_t most_list_bytes(const SlabGeometry& geometry, const SlabMachine& machine) {
  if (!has_sheaves(machine))
    return slub_reserves(geometry, machine).most_cpu_slabs * machine.cpus * geometry.slab_bytes;
  constexpr std::uint64_t kModelledSheavesOfCpu = 2;  // the model has no rcu_free
  return objects_in_full_sheaves(sheaf_capacity(geometry.object_bytes, machine), kModelledSheavesOfCpu, machine.cpus,
                                 sheaf_machine_of(machine).nodes) *
         geometry.object_bytes;
}

std::vector<std::uint64_t> kmalloc_classes(std::uint64_t least, const SlabMachine& machine) {
  std::vector<std::uint64_t> classes;
  for (std::uint64_t bytes = 8; bytes <= 2 * machine.page_bytes; bytes *= 2) {
    if (bytes >= least) classes.push_back(bytes);
    if (bytes == 64 && least < 64) classes.push_back(96);
    if (bytes == 128 && least < 128) classes.push_back(192);
  }
  return classes;
}

std::uint64_t least_kmalloc_class(const SlabMachine& machine) {
  if (machine.arch == "aarch64") return machine.version < KernelVersion{6, 5} ? kArm64Alignment : 0;
  constexpr std::array<std::string_view, 9> kUsual = {"x86_64", "i386",  "i486",    "i586",       "i686",
                                                      "s390x",  "ppc64", "ppc64le", "loongarch64"};
  return std::ranges::find(kUsual, machine.arch) != kUsual.end() ? 8 : 0;
}

std::uint64_t kmalloc_bytes(std::uint64_t requested, const std::vector<std::uint64_t>& classes,
                            const SlabMachine& machine) {
  const auto found = std::ranges::lower_bound(classes, requested);
  if (found != classes.end()) return *found;
  // Maximum in bytes, larger than any kernel allows. Prevents an overflow with a damaged trace.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48;
  if (requested > kMost) return requested;
  return machine.page_bytes << order_of(requested, machine.page_bytes);
}

std::uint64_t cache_object_bytes(std::uint64_t object_bytes, const SlabMachine& machine) {
  return aligned(std::max<std::uint64_t>(object_bytes, 1), machine.word_bytes);
}

std::string class_name(std::uint64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{}k", bytes / 1024) : fmt::format("{}", bytes);
}

}  // namespace kmt
