// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/snapshot.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "analysis/snapshot/amounts.hpp"
#include "analysis/snapshot/balance_sheet.hpp"
#include "analysis/snapshot/dying_cgroups.hpp"
#include "analysis/snapshot/health.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

std::vector<SlabCacheUse> caches_of(const KernelMemory& memory) {
  // Folders in /sys/kernel/slab by name. A symlink to a folder is another name of the folder.
  std::unordered_map<std::string_view, const SlabAttributes*> attributes;
  for (const SlabAttributes& cache : memory.slab_attributes) {
    attributes.emplace(cache.name, &cache);
    for (const std::string& alias : cache.aliases) attributes.emplace(alias, &cache);
  }
  std::vector<SlabCacheUse> caches;
  for (const SlabInfo& slab : memory.slabs) {
    SlabCacheUse& cache = caches.emplace_back();
    cache.name = slab.name;
    cache.active_objects = std::min(slab.active_objects, slab.objects);
    cache.objects = slab.objects;
    cache.object_bytes = slab.object_bytes;
    cache.slabs = slab.slabs;
    if (const auto found = attributes.find(slab.name); found != attributes.end()) {
      cache.attributes = found->second;
      for (const std::string& alias : found->second->aliases)
        if (alias != slab.name) cache.aliases.push_back(alias);
    }
    const std::uint64_t asked = cache.asked_bytes();
    cache.bytes = slab.slabs * slab.pages_per_slab * memory.page_size;
    cache.in_use = cache.active_objects * asked;
    cache.padding = cache.active_objects * (slab.object_bytes - asked);
    cache.free = (slab.objects - cache.active_objects) * slab.object_bytes;
    // A damaged line, or one that was read with the wrong page size, may have more objects than fit into its slabs.
    cache.tails = cache.bytes - std::min(cache.bytes, slab.objects * slab.object_bytes);
  }
  for (const SlabTotal& slab : memory.unreclaimable_slabs) {
    SlabCacheUse& cache = caches.emplace_back();
    cache.name = slab.name;
    cache.bytes = slab.bytes;
    cache.in_use = slab.used_bytes;
    cache.free = slab.bytes - slab.used_bytes;
  }
  return caches;
}

// Computes the bytes of each site from the object sizes of the caches, because SLUB's alloc_traces only count objects.
void add_bytes(const std::vector<SlabCacheUse>& caches, std::vector<AllocationSite>& sites) {
  // If the amount is larger than this, the file is damaged.
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;
  const auto named = caches_by_name(caches);
  for (AllocationSite& site : sites) {
    const auto cache = named.find(site.of);
    const std::uint64_t size = cache == named.end() ? 0 : cache->second->asked_bytes();
    if (size != 0 && site.count <= kMostBytes / size) site.bytes = site.count * size;
  }
}

std::vector<SnapshotChange> changes(const SnapshotAmounts& a, const SnapshotAmounts& b) {
  std::map<std::string, SnapshotChange> joined;
  for (const auto& [name, amount] : a) joined[name].a = amount;
  for (const auto& [name, amount] : b) joined[name].b = amount;
  std::vector<SnapshotChange> changed;
  for (auto& [name, change] : joined)
    if (change.a != change.b) changed.push_back({name, change.a, change.b});
  const auto size = [](const SnapshotChange& change) {
    const auto growth = static_cast<std::uint64_t>(change.b) - static_cast<std::uint64_t>(change.a);
    return change.b > change.a ? growth : -growth;
  };
  std::ranges::stable_sort(changed, [&](const auto& x, const auto& y) { return size(x) > size(y); });
  return changed;
}

std::string kernel_of(const KernelMemory& memory) {
  return memory.machine.empty() ? memory.release : fmt::format("{} {}", memory.release, memory.machine);
}

// Returns the amount of a balance line in a snapshot. If the snapshot has no such line, the amount is 0. Empty if the
// snapshot lacks a file from which the line is computed, or has only part of it. The source of a line names these
// files: "vmstat: nr_zspages; meminfo: Zswap".
std::optional<std::int64_t> bytes_of(const BalanceLine& line, const SnapshotResult& snapshot,
                                     const SnapshotResult& other) {
  const auto own = std::ranges::find(snapshot.sheet, line.id, &BalanceLine::id);
  const std::string files = " " + line.source;
  const auto& has = snapshot.memory.has;
  const bool is_of_a_part = std::ranges::any_of(snapshot.memory.missing, [&](const MissingSource& missing) {
    return files.find(fmt::format(" {}:", missing.name)) != std::string::npos &&
           std::ranges::find(has, missing.name) != has.end();
  });
  if (is_of_a_part) return std::nullopt;
  // The balance sheet of a report in the kernel's log has other lines, so a line that is missing there does not count
  // as 0.
  if (own == snapshot.sheet.end() && snapshot.memory.oom.has_value() != other.memory.oom.has_value())
    return std::nullopt;
  if (own != snapshot.sheet.end()) return own->is_exact() ? std::optional(own->bytes) : std::nullopt;
  const bool lacks_file = std::ranges::any_of(other.memory.has, [&](const std::string& name) {
    return name != "recorder" && files.find(fmt::format(" {}:", name)) != std::string::npos &&
           std::ranges::find(has, name) == has.end();
  });
  return lacks_file ? std::nullopt : std::optional<std::int64_t>(0);
}

std::vector<BalanceChange> compare_sheets(const SnapshotResult& a, const SnapshotResult& b) {
  std::vector<BalanceLine> lines = a.sheet;
  auto at = lines.begin();
  for (const BalanceLine& other : b.sheet) {
    const auto found = std::ranges::find(lines, other.id, &BalanceLine::id);
    at = (found != lines.end() ? found : lines.insert(at, other)) + 1;
  }
  std::vector<BalanceChange> changes;
  for (BalanceLine& line : lines) {
    const auto before = bytes_of(line, a, b);
    const auto after = bytes_of(line, b, a);
    changes.push_back({std::move(line), before, after});
  }
  return changes;
}

// Returns an error if meminfo lacks a line. Without this check, the memory in this line would seem unaccounted.
std::optional<std::string> why_no_sheet(const KernelMemory& memory) {
  constexpr std::array<std::string_view, 9> kLines = {"MemFree", "Buffers",     "Cached",     "AnonPages",  "Shmem",
                                                      "Slab",    "KernelStack", "PageTables", "VmallocUsed"};
  const auto has = [&](std::string_view name) { return find_number(memory.meminfo, name).has_value(); };
  if (limited_cgroup(memory) != nullptr) return std::nullopt;
  if (memory.oom)
    return !memory.meminfo.empty() || !memory.zones.empty()
               ? std::nullopt
               : std::optional<std::string>("The report in the kernel's log has no numbers of memory");
  if (!has("MemTotal")) return "The snapshot's meminfo has no line MemTotal";
  if (!has("Shmem") && !has("KernelStack") && has("VmallocUsed"))
    return "The snapshot's meminfo has no lines Shmem and KernelStack, as before Linux 2.6.32";
  for (const std::string_view line : kLines)
    if (!has(line))
      return fmt::format("The snapshot's meminfo is incomplete: it has no line {} with a valid number", line);
  // Linux 4.19 and 4.20 added these lines.
  if (has("KReclaimable") && !has("Percpu"))
    return "The snapshot's meminfo is incomplete: it has no line Percpu with a valid number";
  return std::nullopt;
}

// Throws Error if the snapshots show the memory of different cgroups, or of a cgroup and a machine.
void refuse_other_cgroup(const KernelMemory& a, const KernelMemory& b) {
  const auto described = [](const CgroupLimit* cgroup) {
    return cgroup == nullptr ? "the whole machine" : "the cgroup " + printable(cgroup->memory.path);
  };
  const std::string of_a = described(limited_cgroup(a));
  const std::string of_b = described(limited_cgroup(b));
  if (of_a == of_b) return;
  throw Error(fmt::format("The first snapshot shows the memory of {}, and the second of {}", of_a, of_b))
      .hint("Compare snapshots of the same cgroup, or of the whole machine");
}

}  // namespace

SnapshotResult take_stock(KernelMemory&& memory) {
  SnapshotResult result;
  result.memory = std::move(memory);
  if (const auto why = why_no_sheet(result.memory))
    throw Error(*why).hint(result.memory.oom ? "It must be the whole report, from \"Mem-Info:\" to \"pages reserved\""
                                             : "It must be the whole text of /proc/meminfo");
  const CgroupLimit* const cgroup = limited_cgroup(result.memory);
  result.total = cgroup != nullptr ? cgroup->usage_bytes.value_or(0) : number_or_0(result.memory.meminfo, "MemTotal");
  result.caches = caches_of(result.memory);
  add_bytes(result.caches, result.memory.slab_allocations);
  result.dying_cgroups = dying_cgroups(result.memory.cgroups);
  result.sheet = cgroup != nullptr   ? balance_of_cgroup(result.memory, result.total)
                 : result.memory.oom ? balance_of_log(result.memory, result.total)
                                     : balance_sheet(result.memory, result.caches, result.total);
  if (cgroup == nullptr) result.health = health_of(result);  // the checks are about the whole machine
  return result;
}

SnapshotDiff diff(const SnapshotResult& a, const SnapshotResult& b) {
  refuse_other_cgroup(a.memory, b.memory);
  SnapshotDiff result;
  result.a_unix_ns = a.memory.unix_ns;
  result.b_unix_ns = b.memory.unix_ns;
  result.a_host = a.memory.host;
  result.b_host = b.memory.host;
  result.a_kernel = kernel_of(a.memory);
  result.b_kernel = kernel_of(b.memory);
  result.sheet = compare_sheets(a, b);
  // If a part is missing or incomplete in one of the snapshots, the difference would look like a change. So the part is
  // not compared.
  const auto of = [&](SnapshotPart part) -> std::vector<SnapshotChange> {
    SnapshotAmounts before = amounts_of(part, a);
    SnapshotAmounts after = amounts_of(part, b);
    const bool lacks_rows = part == SnapshotPart::slab_caches && (lacks_caches(a.memory) || lacks_caches(b.memory));
    if (is_known(part, a) && is_known(part, b) && !lacks_rows) return changes(before, after);
    // Exceptions: call sites and caches. Compare rows that both have; the kernel's log has only the largest.
    if ((part == SnapshotPart::allocinfo || lacks_rows) && !before.empty() && !after.empty()) {
      const auto erased = std::erase_if(before, [&](const auto& one) { return !after.contains(one.first); }) +
                          std::erase_if(after, [&](const auto& one) { return !before.contains(one.first); });
      if (part == SnapshotPart::allocinfo || erased > 0) result.not_compared.push_back(part);
      return changes(before, after);
    }
    if (!before.empty() || !after.empty()) result.not_compared.push_back(part);
    return {};
  };
  result.caches = of(SnapshotPart::slab_caches);
  result.vmalloc = of(SnapshotPart::vmalloc);
  result.allocinfo = of(SnapshotPart::allocinfo);
  result.cgroups = of(SnapshotPart::cgroups);
  result.dying_cgroups = of(SnapshotPart::dying_cgroups);
  result.slab_allocations = of(SnapshotPart::slab_allocations);
  result.page_owners = of(SnapshotPart::page_owners);
  result.owners = of(SnapshotPart::owners);
  result.page_blocks = of(SnapshotPart::page_blocks);
  result.page_flags = of(SnapshotPart::page_flags);
  result.nodes = of(SnapshotPart::nodes);
  return result;
}

}  // namespace kmt
