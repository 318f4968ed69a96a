// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/amounts.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "results/snapshot/owners.hpp"
#include "results/snapshot/page_census.hpp"

namespace kmt {

namespace {

// Lines in the meminfo of a node.
constexpr std::array<std::string_view, 8> kNodeLines = {"MemFree",      "MemUsed",    "AnonPages",   "FilePages",
                                                        "SReclaimable", "SUnreclaim", "KernelStack", "PageTables"};

template <typename Row, typename Name, typename Amount>
SnapshotAmounts sums_of(const std::vector<Row>& rows, Name&& name, Amount&& amount) {
  std::map<std::string, std::uint64_t> sums;
  for (const Row& row : rows) sums[name(row)] += amount(row);
  SnapshotAmounts amounts;
  for (const auto& [of, sum] : sums) amounts[of] = static_cast<std::int64_t>(sum);
  return amounts;
}

// Returns a name for an allocation site. It consists of function names, because unlike addresses these do not change
// with the next boot. Sites whose stacks differ outside the allocator have different names.
std::string site_name(const AllocationSite& site) {
  std::string name = site.of.empty() ? site.name : fmt::format("{}: {}", site.of, site.name);
  for (const std::string& frame : site.callers()) name += " < " + frame;
  return name;
}

std::uint64_t bytes_of(const AllocationSite& site) { return site.bytes; }

std::uint64_t memory_of(const CgroupMemory& cgroup) {
  return kernel_bytes(cgroup).value_or(0) + user_bytes(cgroup).value_or(0);
}

// Returns the bytes of the page census by kind and order. Free blocks merge and split all the time, so free memory has
// one row.
SnapshotAmounts blocks_of(const SnapshotResult& result) {
  SnapshotAmounts amounts;
  if (!result.pages) return amounts;
  for (std::size_t i = 0; i < kPageKinds; ++i) {
    const auto kind = static_cast<PageKind>(i);
    for (std::size_t order = 0; order < kPageOrders; ++order) {
      const std::uint64_t blocks = result.pages->blocks[i][order];
      if (blocks == 0) continue;
      const std::string name = kind == PageKind::free ? std::string(describe(kind).label)
                                                      : fmt::format("{}, order {}", describe(kind).label, order);
      amounts[name] += static_cast<std::int64_t>((blocks << order) * result.memory.page_size);
    }
  }
  return amounts;
}

SnapshotAmounts flags_of(const SnapshotResult& result) {
  SnapshotAmounts amounts;
  if (!result.pages) return amounts;
  for (const PagesByFlags& one : result.pages->other_flags)
    amounts[names_of_page_flags(one.flags)] += static_cast<std::int64_t>(one.pages * result.memory.page_size);
  return amounts;
}

SnapshotAmounts node_amounts(const KernelMemory& memory) {
  SnapshotAmounts amounts;
  if (memory.nodes.size() < 2) return amounts;
  for (const NodeMemory& node : memory.nodes)
    for (const std::string_view line : kNodeLines)
      if (const auto bytes = find_number(node.values, line))
        amounts[fmt::format("node {} {}", node.node, line)] = static_cast<std::int64_t>(*bytes);
  return amounts;
}

// Returns the files that may contain this part. A snapshot needs only one of them.
std::vector<std::string_view> texts_of(SnapshotPart part) {
  switch (part) {
    case SnapshotPart::balance_sheet: return {"meminfo", "oom"};
    case SnapshotPart::slab_caches: return {"slabinfo", "oom"};
    case SnapshotPart::vmalloc: return {"vmallocinfo"};
    case SnapshotPart::allocinfo: return {"allocinfo"};
    case SnapshotPart::cgroups:
    case SnapshotPart::dying_cgroups: return {"cgroups"};
    case SnapshotPart::slab_allocations: return {"alloc_traces"};
    case SnapshotPart::page_owners: return {"page_owner", "page_owner_stacks"};
    case SnapshotPart::owners: return {"owners"};
    case SnapshotPart::page_blocks:
    case SnapshotPart::page_flags: return {"census"};
    case SnapshotPart::nodes: return {"node_meminfo"};
  }
  return {};
}

}  // namespace

SnapshotAmounts amounts_of(SnapshotPart part, const SnapshotResult& result) {
  const KernelMemory& memory = result.memory;
  SnapshotAmounts lines;
  switch (part) {
    case SnapshotPart::balance_sheet:
      for (const BalanceLine& line : result.sheet)
        if (line.is_exact()) lines[line.id] = line.bytes;
      return lines;
    case SnapshotPart::slab_caches:
      return sums_of(result.caches, std::mem_fn(&SlabCacheUse::name), std::mem_fn(&SlabCacheUse::bytes));
    case SnapshotPart::vmalloc:
      return sums_of(memory.vmalloc, std::mem_fn(&VmallocCaller::function),
                     [&](const VmallocCaller& caller) { return caller.pages * memory.page_size; });
    case SnapshotPart::allocinfo: return sums_of(memory.allocinfo, site_name, bytes_of);
    case SnapshotPart::cgroups: return sums_of(memory.cgroups, std::mem_fn(&CgroupMemory::path), memory_of);
    case SnapshotPart::dying_cgroups:
      return sums_of(result.dying_cgroups, std::mem_fn(&DyingCgroups::below), std::mem_fn(&DyingCgroups::count));
    case SnapshotPart::slab_allocations:
      return sums_of(memory.slab_allocations, site_name, std::mem_fn(&AllocationSite::count));
    case SnapshotPart::page_owners: return sums_of(memory.page_owners, site_name, bytes_of);
    case SnapshotPart::owners:
      for (const MemoryOwner& owner : memory.owners)
        if (owner.place == OwnerPlace::unaccounted) lines[full_name(owner)] = static_cast<std::int64_t>(owner.bytes);
      return lines;
    case SnapshotPart::page_blocks: return blocks_of(result);
    case SnapshotPart::page_flags: return flags_of(result);
    case SnapshotPart::nodes: return node_amounts(memory);
  }
  return lines;
}

bool is_known(SnapshotPart part, const SnapshotResult& result) {
  const KernelMemory& memory = result.memory;
  const auto has_count = [](const CgroupMemory& cgroup) {
    return find_number(cgroup.values, "nr_dying_descendants").has_value();
  };
  if (part == SnapshotPart::dying_cgroups && std::ranges::none_of(memory.cgroups, has_count)) return false;
  bool known = false;
  for (const std::string_view text : texts_of(part)) {
    const bool has = std::ranges::find(memory.has, text) != memory.has.end();
    if (has && lacks(memory, text)) return false;  // the snapshot contains only a part of the file
    known = known || has;
  }
  return known;
}

bool lacks_caches(const KernelMemory& memory) { return lacks(memory, "partial"); }

}  // namespace kmt
