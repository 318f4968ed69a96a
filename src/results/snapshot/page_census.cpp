// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/snapshot/page_census.hpp"

#include <numeric>

namespace kmt {

namespace {

constexpr std::array<PageKindText, kPageKinds> kKinds = {{
    {"free", "free"},
    {"anonymous", "anonymous"},
    {"ksm", "anonymous, merged by KSM"},
    {"swap_cache", "swap cache, not mapped"},
    {"file", "page cache of files"},
    {"shmem", "shared memory and tmpfs"},
    {"hugetlb", "hugetlb"},
    {"slab", "slab"},
    {"page_tables", "page tables"},
    {"other", "other kernel pages"},
    {"unmarked", "kernel or CPUs' free lists"},
    {"zero_page", "pages of zeros"},
    {"offline", "balloon or offline"},
    {"poisoned", "broken hardware"},
    {"reserved", "reserved at boot"},
    {"no_page", "no page"},
}};

// The names that the kernel's tools/mm/page-types.c uses, by bit. Older kernels call bit 34 mappedtodisk.
constexpr std::array<std::string_view, 43> kFlagNames = {"locked",
                                                         "error",
                                                         "referenced",
                                                         "uptodate",
                                                         "dirty",
                                                         "lru",
                                                         "active",
                                                         "slab",
                                                         "writeback",
                                                         "reclaim",
                                                         "buddy",
                                                         "mmap",
                                                         "anonymous",
                                                         "swapcache",
                                                         "swapbacked",
                                                         "compound_head",
                                                         "compound_tail",
                                                         "huge",
                                                         "unevictable",
                                                         "hwpoison",
                                                         "nopage",
                                                         "ksm",
                                                         "thp",
                                                         "offline",
                                                         "zero_page",
                                                         "idle_page",
                                                         "pgtable",
                                                         "",
                                                         "",
                                                         "",
                                                         "",
                                                         "",
                                                         "reserved",
                                                         "mlocked",
                                                         "owner_2",
                                                         "private",
                                                         "private_2",
                                                         "owner_private",
                                                         "arch",
                                                         "uncached",
                                                         "softdirty",
                                                         "arch_2",
                                                         "arch_3"};

}  // namespace

const PageKindText& describe(PageKind kind) { return kKinds[index_of(kind)]; }

std::string_view id_of(SlabSource source) {
  switch (source) {
    case SlabSource::kcore: return "kcore";
    case SlabSource::bpf: return "bpf";
    case SlabSource::none: break;
  }
  return "none";
}

std::uint64_t listed_blocks(const PageblockUse& use) {
  return std::accumulate(use.by_type.begin(), use.by_type.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const BlocksByType& type) { return sum + type.blocks; });
}

std::uint64_t intended_for_unmovable(const PageblockUse& use) {
  std::uint64_t sum = 0;
  for (const BlocksByType& type : use.by_type)
    if (type.type == "Unmovable" || type.type == "Reclaimable" || type.type == "HighAtomic") sum += type.blocks;
  return sum;
}

std::optional<std::uint64_t> mixed_by_kernel(const PageblockUse& use) {
  std::optional<std::uint64_t> sum;
  for (const BlocksByType& type : use.by_type)
    if (type.mixed) sum = sum.value_or(0) + *type.mixed;
  return sum;
}

std::string names_of_page_flags(std::uint64_t flags) {
  std::string names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((flags >> bit & 1) == 0) continue;
    if (!names.empty()) names += ", ";
    const bool has_name = bit < kFlagNames.size() && !kFlagNames[bit].empty();
    names += has_name ? std::string(kFlagNames[bit]) : "bit_" + std::to_string(bit);
  }
  return names.empty() ? "none" : names;
}

std::uint64_t CgroupPages::all() const { return std::accumulate(pages.begin(), pages.end(), std::uint64_t{0}); }

}  // namespace kmt
