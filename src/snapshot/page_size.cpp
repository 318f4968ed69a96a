// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/page_size.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/units.hpp"
#include "base/words.hpp"
#include "snapshot/parsers.hpp"
#include "trace/state/slabinfo.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kUsualPage = 4096;
constexpr std::uint64_t kMostPage = 1 << 16;

std::uint64_t sum_of(const std::vector<MemoryZone>& zones, const char* name) {
  std::uint64_t sum = 0;
  for (const MemoryZone& zone : zones) sum += number_or_0(zone.values, name);
  return sum;
}

std::uint64_t free_pages_of(const std::vector<MemoryZone>& zones) {
  std::uint64_t sum = 0;
  for (const MemoryZone& zone : zones)
    for (std::size_t order = 0; order < std::min<std::size_t>(zone.free.size(), 32); ++order)
      sum += std::min<std::uint64_t>(zone.free[order], 1 << 30) * (std::uint64_t{1} << order);
  return sum;
}

// True for machines that only have pages of 4 KiB.
bool has_only_usual_pages(std::string_view uname, std::uint64_t vmalloc_bytes) {
  constexpr std::array<std::string_view, 8> kMachines = {"x86_64", "amd64", "i386",  "i486",
                                                         "i586",   "i686",  "s390x", "armv7l"};
  // Sizes of the vmalloc area of x86-64 with page tables of 4 and 5 levels (arch/x86/mm: VMALLOC_SIZE_TB_L4 and _L5).
  constexpr std::uint64_t kOneTerabyte = std::uint64_t{1} << 40;
  constexpr std::uint64_t kKb = 1024;
  if (vmalloc_bytes == 32 * kOneTerabyte - kKb || vmalloc_bytes == 12800 * kOneTerabyte - kKb) return true;
  for (Words words(uname.substr(0, uname.find('\n'))); !words.empty();)
    if (std::ranges::find(kMachines, words.next()) != kMachines.end()) return true;
  return false;
}

// Returns a lower bound of the page size: the objects of each slab must fit into the pages of the slab. The bound is
// exact if the objects of a cache fill its slabs, as those of kmalloc caches do.
std::uint64_t page_size_of_slabs(const std::vector<SlabInfo>& slabs) {
  std::uint64_t most = 0;
  for (const SlabInfo& slab : slabs)
    if (slab.pages_per_slab != 0 &&
        slab.object_bytes <= kMostNumber / std::max<std::uint64_t>(slab.objects_per_slab, 1))
      most = std::max(most, slab.objects_per_slab * slab.object_bytes / slab.pages_per_slab);
  return most > kMostPage ? kUsualPage : std::max<std::uint64_t>(std::bit_ceil(most), kUsualPage);
}

// Returns `bytes` / `pages` if this quotient is close to a page size that kernels use. Returns nothing otherwise, as in
// copies that lack zones.
std::optional<std::uint32_t> page_size_of(std::uint64_t bytes, std::uint64_t pages) {
  const std::uint64_t ratio = pages == 0 ? 0 : bytes / pages;
  for (const std::uint32_t size : {4096u, 8192u, 16384u, 32768u, 65536u})
    if (std::max<std::uint64_t>(ratio, size) - std::min<std::uint64_t>(ratio, size) <= size / 8) return size;
  return std::nullopt;
}

// Derives the page size from slabs, vmalloc areas and zones, for a snapshot without vmstat.
std::uint32_t page_size_of_other_files(const StateSample& sample, const KernelMemory& memory) {
  constexpr std::size_t kMostBytes = 64 << 20;  // protects against malicious files
  const auto text = [&](std::string_view name) { return text_of(sample, name).substr(0, kMostBytes); };
  KernelMemory others;
  parse_zoneinfo(text("zoneinfo"), others);
  parse_buddyinfo(text("buddyinfo"), others);
  parse_vmallocinfo(text("vmallocinfo"), others);
  // Sums over zones are used last: if zones are missing from the copy, the page size computed from them is too large.
  constexpr std::size_t kManyCaches = 20;  // enough to include caches of kmalloc
  const std::vector<SlabInfo> slabs = parse_slabinfo(text("slabinfo")).caches;
  const auto least = static_cast<std::uint32_t>(page_size_of_slabs(slabs));
  if (slabs.size() >= kManyCaches) return least;
  std::uint64_t bytes = 0;
  std::uint64_t pages = 0;
  for (const VmallocCaller& caller : others.vmalloc)
    if (caller.mapped_bytes == 0) bytes += caller.virtual_bytes, pages += caller.pages + caller.areas;
  const std::uint64_t free = number_or_0(memory.meminfo, "MemFree");
  for (const auto size :
       {page_size_of(bytes, pages),
        page_size_of(number_or_0(memory.meminfo, "MemTotal"), sum_of(others.zones, "managed")),
        page_size_of(free, sum_of(others.zones, "free")), page_size_of(free, free_pages_of(others.zones))})
    if (size) return std::max(*size, least);
  return least;
}

}  // namespace

// meminfo shows some amounts in bytes that vmstat shows in pages, so each quotient is the page size. The amounts may
// change between reading the two files, so quotients are inexact. Rounds each quotient to a power of two, and returns
// the median.
std::uint32_t page_size_of_copies(const StateSample& sample, const KernelMemory& memory) {
  if (has_only_usual_pages(text_of(sample, "uname"), number_or_0(memory.meminfo, "VmallocTotal"))) return kUsualPage;
  constexpr std::pair<std::string_view, std::string_view> kBoth[] = {{"MemFree", "nr_free_pages"},
                                                                     {"AnonPages", "nr_anon_pages"},
                                                                     {"Mapped", "nr_mapped"},
                                                                     {"Shmem", "nr_shmem"},
                                                                     {"PageTables", "nr_page_table_pages"}};
  constexpr std::uint64_t kMostRatio = 1 << 20;
  std::vector<std::uint32_t> sizes;
  const auto add = [&](std::uint64_t bytes, std::uint64_t count) {
    const std::uint64_t ratio = count == 0 ? 0 : bytes / count;
    if (ratio < kUsualPage / 2 || ratio > kMostRatio) return;
    const auto below = static_cast<std::uint32_t>(std::bit_floor(ratio));
    sizes.push_back(ratio > below + below / 2 ? below * 2 : below);
  };
  for (const auto& [bytes, pages] : kBoth) add(number_or_0(memory.meminfo, bytes), number_or_0(memory.vmstat, pages));
  if (sizes.empty()) return page_size_of_other_files(sample, memory);
  std::ranges::sort(sizes);
  return sizes[sizes.size() / 2];
}

}  // namespace kmt
