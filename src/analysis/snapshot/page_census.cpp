// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/page_census.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kmt {

namespace {

// The lines of the balance sheet whose memory belongs to this kind of page, and the names of their counters. Lines that
// no kind lists belong to the kind `other`.
struct CountersOfKind {
  PageKind kind;
  std::string_view source;
  std::array<std::string_view, 6> ids;
};

// Allocations of kmalloc above two pages (slab.large) have no flag SLAB, so they are in the kinds `other` and
// `unmarked`.
constexpr std::array<CountersOfKind, 9> kCounters = {{
    {PageKind::free, "MemFree", {"free.buddy"}},
    {PageKind::anonymous, "AnonPages", {"user.anonymous"}},
    {PageKind::swap_cache, "lists-AnonPages-Shmem", {"user.swap-cache"}},
    {PageKind::file, "Cached+Buffers-Shmem", {"user.file", "user.buffers"}},
    {PageKind::shmem, "Shmem", {"user.shmem"}},
    {PageKind::hugetlb, "Hugetlb", {"hugetlb"}},
    {PageKind::slab,
     "Slab - large kmalloc",
     {"slab", "slab.in-use", "slab.empty", "slab.padding", "slab.tails", "slab.unlisted"}},
    {PageKind::page_tables, "PageTables", {"page-tables.processes"}},
    {PageKind::poisoned, "HardwareCorrupted", {"others.corrupted"}},
}};

// A line of the balance sheet that has no parts, with the label of the line that it is a part of.
struct SheetLeaf {
  const BalanceLine* line;
  std::string label;
};

std::vector<SheetLeaf> leaves_of(const std::vector<BalanceLine>& sheet) {
  std::vector<SheetLeaf> leaves;
  std::string group;
  for (std::size_t i = 0; i < sheet.size(); ++i) {
    const BalanceLine& line = sheet[i];
    if (!line.counted) continue;
    if (line.depth == 0) group = line.label;
    const bool has_parts = line.depth == 0 && i + 1 < sheet.size() && sheet[i + 1].depth == 1 && sheet[i + 1].counted;
    if (!has_parts) leaves.push_back({&line, line.depth == 0 ? line.label : group + ", " + line.label});
  }
  return leaves;
}

std::uint64_t bytes_of_kind(const PageCensus& census, PageKind kind, std::uint64_t page_size) {
  std::uint64_t pages = census.pages[index_of(kind)];
  if (kind == PageKind::anonymous) pages += census.pages[index_of(PageKind::ksm)];  // AnonPages includes KSM pages
  if (kind == PageKind::other) pages = other_kernel_pages(census.pages);
  return pages * page_size;
}

// Sums up the lines of each kind. The memory of all other lines has the kind `other`.
void compare_kinds(const SnapshotResult& snapshot, PageCensus& census) {
  const std::uint64_t page_size = snapshot.memory.page_size;
  std::vector<SheetLeaf> leaves = leaves_of(snapshot.sheet);
  std::int64_t claimed = 0;
  for (const CountersOfKind& counters : kCounters) {
    PageComparison& row = census.comparisons.emplace_back();
    row.kind = counters.kind;
    row.bytes = bytes_of_kind(census, counters.kind, page_size);
    row.source = counters.source;
    bool is_known = true;
    bool has_line = false;
    std::int64_t sum = 0;
    std::erase_if(leaves, [&](const SheetLeaf& leaf) {
      if (std::ranges::find(counters.ids, leaf.line->id) == counters.ids.end()) return false;
      has_line = true;
      is_known = is_known && leaf.line->is_exact();
      sum += leaf.line->bytes;
      return true;
    });
    claimed += sum;
    if (has_line && is_known) row.counted = sum;
  }
  census.comparisons.push_back({PageKind::other, bytes_of_kind(census, PageKind::other, page_size),
                                static_cast<std::int64_t>(snapshot.total) - claimed, "rest, in two rows"});
  for (SheetLeaf& leaf : leaves)
    if (leaf.line->bytes != 0) census.other_parts.push_back({std::move(leaf.label), leaf.line->bytes});
  std::ranges::stable_sort(census.other_parts, std::ranges::greater(), &CountedKernelMemory::bytes);
}

// Linux before 4.6 marks only the first page of a free block, so most free pages have the kind `unmarked`. Unaccepted
// memory of confidential VMs has no mark either.
void note_unmarked_free_pages(const SnapshotResult& snapshot, PageCensus& census) {
  const std::uint64_t unaccepted = number_or_0(snapshot.memory.meminfo, "Unaccepted");
  const std::uint64_t free = number_or_0(snapshot.memory.meminfo, "MemFree");
  if (unaccepted != 0) census.notes.emplace_back("Memory that is not yet accepted is free, but has no flag.");
  const std::uint64_t free_pages = (free - std::min(free, unaccepted)) / snapshot.memory.page_size;
  if (census.pages[index_of(PageKind::free)] >= free_pages / 2) return;
  census.notes.emplace_back(
      "Most free pages have no flag. Linux before 4.6 marks only the first page of each free block, so the other "
      "pages count as kernel pages here.");
}

// Before Linux 4.18, page tables have no flag PGTABLE.
void note_unmarked_page_tables(PageCensus& census) {
  const auto row = std::ranges::find(census.comparisons, PageKind::page_tables, &PageComparison::kind);
  if (row->bytes == 0 && row->counted.value_or(0) > 0)
    census.notes.emplace_back(
        "This kernel has no flag for page tables (since Linux 4.18), so they count as other kernel pages here.");
}

}  // namespace

unsigned largest_free_order(const KernelMemory& memory) {
  constexpr unsigned kDefault = 10;  // MAX_PAGE_ORDER
  std::size_t orders = 0;
  for (const MemoryZone& zone : memory.zones) orders = std::max(orders, zone.free.size());
  return orders == 0 ? kDefault : static_cast<unsigned>(std::min(orders, kPageOrders) - 1);
}

std::optional<ZoneFragmentation> fragmentation_of(const MemoryZone& zone, unsigned order) {
  std::uint64_t pages = 0;
  std::uint64_t blocks = 0;
  std::uint64_t suitable_pages = 0;
  for (std::size_t i = 0; i < std::min(zone.free.size(), kPageOrders); ++i) {
    pages += zone.free[i] << i;
    blocks += zone.free[i];
    if (i >= order) suitable_pages += zone.free[i] << i;
  }
  if (pages == 0) return std::nullopt;
  ZoneFragmentation result{zone.node, zone.name, 0, {}};
  const auto free_pages = static_cast<double>(pages);
  result.unusable = static_cast<double>(pages - suitable_pages) / free_pages;
  const auto wanted_pages = static_cast<double>(std::uint64_t{1} << order);
  if (suitable_pages == 0) result.index = 1 - (1 + free_pages / wanted_pages) / static_cast<double>(blocks);
  return result;
}

void compare_with_counters(const SnapshotResult& snapshot, PageCensus& census) {
  for (std::size_t i = 0; i < kPageKinds; ++i) census.in_total += census.pages[i];
  // MemTotal excludes these kinds. For example, the kernel subtracts the pages of a balloon (offline).
  for (const PageKind kind : {PageKind::offline, PageKind::reserved, PageKind::no_page})
    census.in_total -= census.pages[index_of(kind)];
  compare_kinds(snapshot, census);
  for (const MemoryZone& zone : snapshot.memory.zones)
    if (auto fragmentation = fragmentation_of(zone, census.pageblocks.order))
      census.zones.push_back(std::move(*fragmentation));
  census.pageblocks.by_type = snapshot.memory.blocks_by_type;
  note_unmarked_free_pages(snapshot, census);
  note_unmarked_page_tables(census);
}

void name_cgroups(const std::unordered_map<std::uint64_t, std::string>& paths, PageCensus& census) {
  for (CgroupPages& cgroup : census.cgroups)
    if (const auto found = paths.find(cgroup.inode); found != paths.end()) cgroup.path = found->second;
}

}  // namespace kmt
