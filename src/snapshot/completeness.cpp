// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/completeness.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kSmall = 1 << 20;  // bytes

// True if one of the caches has one of the names.
template <std::size_t N>
bool has_one_of(const std::vector<SlabInfo>& caches, const std::array<std::string_view, N>& names) {
  return std::ranges::any_of(caches, [&](const SlabInfo& slab) {
    return std::ranges::find(names, std::string_view(slab.name)) != names.end();
  });
}

// True if dentry, inode_cache or all kmalloc caches are missing. Every kernel has the first two and never merges them.
bool lacks_a_usual_cache(const std::vector<SlabInfo>& caches) {
  constexpr std::array<std::string_view, 2> kDentry = {"dentry", "dentry_cache"};
  constexpr std::array<std::string_view, 1> kInode = {"inode_cache"};
  const auto is_kmalloc = [](const SlabInfo& slab) {
    return slab.name.starts_with("kmalloc-") || slab.name.starts_with("size-");
  };
  return !has_one_of(caches, kDentry) || !has_one_of(caches, kInode) || std::ranges::none_of(caches, is_kmalloc);
}

// True if a line starts with "# name". Programs such as `column` may have changed the blanks.
bool has_header(std::string_view text) {
  for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1))
    if (trim(text.substr(at + 1, text.find('\n', at) - at)).starts_with("name")) return true;
  return false;
}

// Forgets the free blocks of all zones if buddyinfo has few orders, and much less free memory than meminfo. In this
// case, its lines were cut at the width of a terminal. Nearly all kernels have at least 10 orders.
void forget_cut_blocks(KernelMemory& memory) {
  constexpr std::size_t kFewOrders = 10;
  std::uint64_t pages = 0;
  std::size_t orders = 0;
  for (const MemoryZone& zone : memory.zones) {
    orders = std::max(orders, zone.free.size());
    for (std::size_t order = 0; order < std::min<std::size_t>(zone.free.size(), kFewOrders); ++order)
      pages += std::min<std::uint64_t>(zone.free[order], 1 << 30) << order;
  }
  const auto free = find_number(memory.meminfo, "MemFree");
  if (orders == 0 || orders >= kFewOrders || !free || pages * memory.page_size >= *free - *free / 8) return;
  for (MemoryZone& zone : memory.zones) zone.free.clear();
  memory.missing.push_back(
      {"buddyinfo", "its lines are cut before the last order, so it is not used", "copy /proc/buddyinfo as a whole"});
}

// Forgets the free blocks of all zones if buddyinfo lacks zones that have pages.
void forget_blocks_of_some_zones(KernelMemory& memory) {
  const auto has_pages = [](const MemoryZone& zone) { return number_or_0(zone.values, "free") != 0; };
  const auto lacks_blocks = [&](const MemoryZone& zone) { return has_pages(zone) && zone.free.empty(); };
  const auto has_blocks = [](const MemoryZone& zone) { return !zone.free.empty(); };
  if (std::ranges::none_of(memory.zones, has_blocks) || std::ranges::none_of(memory.zones, lacks_blocks)) return;
  for (MemoryZone& zone : memory.zones) zone.free.clear();
  memory.missing.push_back(
      {"buddyinfo", "it lacks zones that zoneinfo has, so it is not used", "copy /proc/buddyinfo as a whole"});
}

// Finds zones in buddyinfo that zoneinfo lacks, and zones whose lines are cut off.
void find_cut_zoneinfo(KernelMemory& memory) {
  const auto has_lists = [](const MemoryZone& zone) { return zone.cpu_list_pages.has_value(); };
  const bool has_any_lists = std::ranges::any_of(memory.zones, has_lists);
  const bool has_any_ends = std::ranges::any_of(memory.zones, &MemoryZone::has_end);
  const bool has_any_values = std::ranges::any_of(memory.zones, [](const auto& zone) { return !zone.values.empty(); });
  const auto is_cut = [&](const MemoryZone& zone) {
    const bool is_empty = zone.values.empty() && (has_any_values || zone.free.empty());
    const bool lacks_lines = (has_any_lists && !has_lists(zone)) || (has_any_ends && !zone.has_end);
    return is_empty || (lacks_lines && number_or_0(zone.values, "managed") != 0);
  };
  const auto cut = std::ranges::find_if(memory.zones, is_cut);
  if (cut == memory.zones.end() || lacks(memory, "zoneinfo")) return;
  memory.missing.push_back({"zoneinfo", fmt::format("it lacks lines about zone {} of node {}", cut->name, cut->node),
                            "copy /proc/zoneinfo as a whole"});
}

// Finds a vmstat without its first line, nr_free_pages (mm/vmstat.c). A vmstat made from a report in a log may lack it.
void find_cut_vmstat(KernelMemory& memory) {
  if (memory.vmstat.empty() || memory.oom || find_number(memory.vmstat, "nr_free_pages")) return;
  memory.missing.push_back({"vmstat", "it lacks its first lines", "copy /proc/vmstat as a whole"});
}

// Finds a meminfo that may lack its lines about huge pages. They precede the line DirectMap1M, which only s390x has.
// Kernels for s390x are often built without huge pages, so a meminfo with DirectMap1M counts as complete.
void find_missing_huge_pages(KernelMemory& memory) {
  const auto has = [&](std::string_view name) { return find_number(memory.meminfo, name).has_value(); };
  if (has("HugePages_Total") || has("Hugetlb") || has("DirectMap1M")) return;
  memory.missing.push_back({"hugetlb",
                            "meminfo has no lines about huge pages: the kernel has none, or the copy lacks the lines",
                            "copy /proc/meminfo as a whole"});
}

// Finds totals that differ. mm/page_alloc.c adds each page of a zone both to the zone's managed_pages and to MemTotal.
void compare_zones_with_total(KernelMemory& memory) {
  const auto total = find_number(memory.meminfo, "MemTotal");
  std::uint64_t managed = 0;
  for (const MemoryZone& zone : memory.zones) managed += number_or_0(zone.values, "managed");
  if (!total || managed == 0 || managed > kMostNumber / memory.page_size) return;
  const std::uint64_t in_zones = managed * memory.page_size;
  constexpr std::uint64_t kTolerance = 50;  // a balloon driver may change the total by 2 % between the copies
  const auto add = [&](std::string_view relation, std::uint64_t difference, std::string_view consequence) {
    memory.missing.push_back({"zoneinfo",
                              fmt::format("its zones have {} {} than MemTotal in meminfo: {}", humane_bytes(difference),
                                          relation, consequence),
                              "copy both files again, at the same time"});
  };
  if (in_zones + *total / kTolerance < *total)
    add("less", *total - in_zones, "zones may be missing");
  else if (in_zones > *total + *total / kTolerance)
    add("more", in_zones - *total, "one of the files may be from another machine, or changed");
}

// Finds missing areas. mm/vmalloc.c adds the pages of each area to VmallocUsed (Linux 5.3 and later). Does not compare
// before Linux 4.4, when VmallocUsed is address space and VmallocChunk is not 0.
void compare_vmallocinfo_with_total(KernelMemory& memory) {
  const std::uint64_t used = number_or_0(memory.meminfo, "VmallocUsed");
  if (memory.vmalloc.empty() || number_or_0(memory.meminfo, "VmallocChunk") != 0 ||
      used > number_or_0(memory.meminfo, "MemTotal"))
    return;
  std::uint64_t listed = 0;
  for (const VmallocCaller& caller : memory.vmalloc) listed += caller.pages * memory.page_size;
  constexpr std::uint64_t kTolerance = 10;  // areas may come and go between the copies
  if (listed + used / kTolerance + kSmall >= used) return;
  memory.missing.push_back({"vmallocinfo",
                            fmt::format("its areas have {} less than VmallocUsed in meminfo: areas may be missing",
                                        humane_bytes(used - listed)),
                            "copy both files again, at the same time"});
}

// Finds missing caches. slabinfo lists the slabs of all caches, so they cannot be less than SReclaimable.
void compare_slabinfo_with_total(KernelMemory& memory) {
  const std::uint64_t reclaimable = number_or_0(memory.meminfo, "SReclaimable");
  if (memory.slabs.empty() || lacks(memory, "partial")) return;
  std::uint64_t listed = 0;
  for (const SlabInfo& slab : memory.slabs) listed += slab.slabs * slab.pages_per_slab * memory.page_size;
  if (listed + kSmall >= reclaimable) return;
  memory.missing.push_back(
      {"partial",
       fmt::format("the caches in slabinfo have {} less than SReclaimable in meminfo, so caches are "
                   "missing",
                   humane_bytes(reclaimable - listed)),
       "copy /proc/slabinfo as a whole"});
}

}  // namespace

const char* why_slabinfo_is_incomplete(std::string_view text, const Slabinfo& found) {
  constexpr std::array<std::string_view, 3> kOldest = {"kmem_cache", "kmem_cache_node", "cache_cache"};
  if (text.empty()) return nullptr;
  if (found.caches.empty()) return found.unknown.empty() ? nullptr : "slabinfo lacks columns";
  if (text.find("slabinfo - version") == text.npos && !has_header(text))
    return "slabinfo has no header line, so it may lack caches";
  // A title, "..." or "[snip]" in place of caches. parse_slabinfo() skips empty lines.
  const auto is_gap = [](std::string_view line) { return line.find(" : ") == line.npos; };
  if (std::ranges::any_of(found.unknown, is_gap)) return "slabinfo has lines that are no caches, so it may lack caches";
  if (!has_one_of(found.caches, kOldest)) return "slabinfo is cut off: it lacks the kernel's oldest cache, kmem_cache";
  constexpr std::size_t kMany = 30;  // each kernel has more caches than this
  if (found.caches.size() >= kMany && lacks_a_usual_cache(found.caches))
    return "slabinfo lacks caches that each kernel has, such as dentry, inode_cache or those of kmalloc";
  return nullptr;
}

std::string_view whole_lines(std::string_view name, std::string_view text, KernelMemory& memory) {
  constexpr std::array<std::string_view, 6> kEndWithNumbers = {"vmstat",       "zoneinfo",    "buddyinfo",
                                                               "pagetypeinfo", "vmallocinfo", "sockstat"};
  if (text.empty() || text.ends_with('\n') || std::ranges::find(kEndWithNumbers, name) == kEndWithNumbers.end())
    return text;
  const std::string_view before = text.substr(0, text.rfind('\n') + 1);  // if nothing is found, npos + 1 is 0
  const std::string_view last = text.substr(before.size());
  if (name == "buddyinfo" || name == "pagetypeinfo") {  // the kernel aligns the numbers and writes a blank after each
    const std::string_view others = before.substr(0, before.size() - std::min<std::size_t>(before.size(), 1));
    const std::string_view previous = trim(others.substr(others.rfind('\n') + 1));
    if (last.ends_with(' ') || (!previous.empty() && trim(last).size() >= previous.size())) return text;
  }
  // If the line has the kind of the area, the number of pages is complete, because the kind follows it.
  constexpr std::array<std::string_view, 4> kKinds = {" vmalloc", " ioremap", " vmap", " user"};
  const auto has_kind = [last](std::string_view kind) { return last.find(kind) != last.npos; };
  if (name == "vmallocinfo" && std::ranges::any_of(kKinds, has_kind)) return text;
  memory.missing.push_back(
      {std::string(name), "its last line may be cut off, and is not used", fmt::format("copy {} as a whole", name)});
  return before;
}

void drop_repeated_caches(KernelMemory& memory) {
  std::set<std::tuple<std::string_view, std::uint64_t, std::uint64_t, std::uint64_t>> known;
  std::string_view example;
  std::vector<SlabInfo> different;
  for (const SlabInfo& slab : memory.slabs) {
    const bool is_new = known.emplace(slab.name, slab.active_objects, slab.objects, slab.object_bytes).second;
    if (is_new) different.push_back(slab);
    if (!is_new && slab.objects != 0) example = slab.name;
  }
  if (example.empty()) return;
  memory.missing.push_back(
      {"slabinfo",
       fmt::format("lines occur twice with the same numbers, such as that of {}: each is counted once", example), ""});
  memory.slabs = std::move(different);
}

void compare_copies(KernelMemory& memory) {
  find_cut_vmstat(memory);
  find_missing_huge_pages(memory);
  compare_zones_with_total(memory);
  forget_cut_blocks(memory);
  forget_blocks_of_some_zones(memory);
  find_cut_zoneinfo(memory);
  compare_slabinfo_with_total(memory);
  compare_vmallocinfo_with_total(memory);
}

}  // namespace kmt
