// SPDX-License-Identifier: GPL-2.0-or-later
// A census of all page frames of the machine, from /proc/kpageflags and /proc/kpagecgroup. Amounts are in pages unless
// the name says bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/state/kernel_memory.hpp"

namespace kmt {

// The use of a page frame. Each frame has exactly one kind.
enum class PageKind : std::uint8_t {
  free,         // in the page allocator's free lists
  anonymous,    // memory of processes without a file
  ksm,          // anonymous memory merged by KSM
  swap_cache,   // in the swap cache and not mapped
  file,         // page cache of files and block devices
  shmem,        // tmpfs and shared memory
  hugetlb,      // pools of huge pages, including free ones
  slab,         // slabs of all caches
  page_tables,  // page tables of processes
  other,        // other kernel memory that is certainly in use: compound pages, and pages with flags or a cgroup
  unmarked,     // single pages without flags and cgroup: kernel memory, or free pages on the CPUs' own lists
  zero_page,    // the huge page of zeros
  offline,      // given to the hypervisor (balloon), or logically offline
  poisoned,     // has a hardware error
  reserved,     // reserved at boot; mostly not in MemTotal
  no_page,      // has no page descriptor, or is offline
};
inline constexpr std::size_t kPageKinds = 16;
struct PageKindText {
  std::string_view id;  // name in JSON
  std::string_view label;
};
const PageKindText& describe(PageKind kind);
constexpr std::size_t index_of(PageKind kind) { return static_cast<std::size_t>(kind); }
using PagesByKind = std::array<std::uint64_t, kPageKinds>;  // indexed by index_of()
constexpr std::uint64_t other_kernel_pages(const PagesByKind& pages) {
  return pages[index_of(PageKind::other)] + pages[index_of(PageKind::unmarked)];
}

inline constexpr std::size_t kPageOrders = 32;  // 2^31 pages are larger than any page of any architecture
using BlocksByOrder = std::array<std::uint64_t, kPageOrders>;

// Number of pages whose first frame has the same flags. The bits are those of kernel-page-flags.h and, above bit 31,
// those of fs/proc/page.c.
struct PagesByFlags {
  std::uint64_t flags = 0;
  std::uint64_t pages = 0;
};
// Returns the names of the flags, as the kernel's tool page-types has them: "mmap, private". "none" if there are none.
std::string names_of_page_flags(std::uint64_t flags);

struct CgroupPages {
  std::string path;           // empty: memory in no cgroup, or no folder has this inode number
  std::uint64_t inode = 0;    // inode number of the cgroup's folder; 0: memory in no cgroup
  PagesByKind pages{};        // without free, reserved and missing frames
  std::uint64_t all() const;  // sum of `pages`
};

// A slab cache in the pageblocks with both movable and unmovable pages.
struct CacheInBlocks {
  std::string cache;
  std::uint64_t pages = 0;
  std::uint64_t blocks = 0;  // blocks that have slabs of this cache
  std::uint64_t alone = 0;   // blocks whose other pages are all movable or free
};
enum class SlabSource : std::uint8_t { none, kcore, bpf };
std::string_view id_of(SlabSource source);
// The slab caches in a sample of the pageblocks with both movable and unmovable pages. If there are few such blocks,
// the sample contains all of them.
struct CachesInBlocks {
  SlabSource source = SlabSource::none;  // how the kernel's descriptions of the slabs were read
  std::string failure;                   // why the caches are unknown, as sentences; empty if they are known
  std::uint64_t blocks = 0;              // blocks of the sample
  std::uint64_t unknown = 0;             // pages of slabs in the sample that changed before they were read
  std::vector<CacheInBlocks> rows;       // most blocks first
};

// Numbers of pageblocks by the mobility of their pages. Movable pages are user memory (anonymous to shmem in PageKind),
// unmovable pages are kernel memory (such as slab and page tables). Unmarked pages may be free, so they are neither.
struct PageblockUse {
  unsigned order = 9;
  bool order_is_known = false;  // false: pagetypeinfo does not show the order, so `order` is assumed
  std::uint64_t all = 0;        // blocks with at least one frame that is neither reserved nor missing
  std::uint64_t free = 0;       // blocks that are entirely free
  std::uint64_t movable = 0;    // blocks with movable, but no unmovable and no unmarked pages
  std::uint64_t unmovable = 0;  // blocks with unmovable, but no movable pages
  std::uint64_t mixed = 0;      // blocks with both unmovable and movable pages
  std::uint64_t uncertain = 0;  // blocks with unmarked, but no unmovable pages
  PagesByKind in_mixed{};       // pages of the mixed blocks
  // Mixed blocks by the number of their unmovable and unmarked pages. Element N counts the blocks with 2^N to
  // 2^(N+1) - 1 such pages.
  BlocksByOrder mixed_by_unmovable{};
  CachesInBlocks caches;                  // slab caches in the mixed blocks
  std::optional<std::uint64_t> reserved;  // blocks with only reserved or missing frames; not part of `all`
  std::vector<BlocksByType> by_type;      // the kernel's numbers in pagetypeinfo; empty if unknown

  std::uint64_t with_unmovable() const { return unmovable + mixed; }
};
// Returns the sum of all types: the number of pageblocks that pagetypeinfo lists.
std::uint64_t listed_blocks(const PageblockUse& use);
// Returns the number of pageblocks that the kernel intends for unmovable or reclaimable pages.
std::uint64_t intended_for_unmovable(const PageblockUse& use);
// Returns the number of blocks whose type differs from the type of at least one of their pages. Empty if the kernel
// does not count them.
std::optional<std::uint64_t> mixed_by_kernel(const PageblockUse& use);

// Fragmentation of a zone's free memory for an allocation of a pageblock, from buddyinfo. The formulas are those of
// unusable_free_index() and __fragmentation_index() in the kernel's mm/vmstat.c.
struct ZoneFragmentation {
  unsigned node = 0;
  std::string zone;
  double unusable = 0;  // share of the free memory that is in smaller blocks: 0 to 1
  // Why an allocation would fail: 0 means lack of memory, and 1 means fragmentation. Empty if it would succeed, or if
  // nothing is free.
  std::optional<double> index;
};

// Pages of the census compared with the kernel's counters of the same memory (lines of the balance sheet).
struct PageComparison {
  PageKind kind = PageKind::free;
  std::uint64_t bytes = 0;              // in the census; `anonymous` includes `ksm`, and `other` includes `unmarked`
  std::optional<std::int64_t> counted;  // in the counters; empty if unknown
  std::string_view source;              // names of the counters that `counted` sums up
};
// A counter whose memory has the kind `other` or `unmarked` in the census.
struct CountedKernelMemory {
  std::string label;
  std::int64_t bytes = 0;
};

struct PageCensus {
  std::uint64_t frames = 0;      // all frames, including missing ones
  std::uint64_t elapsed_ns = 0;  // how long reading the frames took
  PagesByKind pages{};
  // Blocks of each kind by order. A block is a compound page. For free memory, it is a block of the page allocator.
  std::array<BlocksByOrder, kPageKinds> blocks{};
  std::uint64_t in_total = 0;  // pages that MemTotal counts
  std::vector<PageComparison> comparisons;
  std::vector<CountedKernelMemory> other_parts;  // parts of the kind `other` in the comparison; largest first
  std::vector<PagesByFlags> other_flags;         // pages of the kinds `other` and `unmarked`; largest first
  std::vector<CgroupPages> cgroups;              // most kernel memory (`other` and `unmarked`) first
  PageblockUse pageblocks;
  std::vector<ZoneFragmentation> zones;
  std::vector<std::string> notes;  // sentences about limits of the census on this kernel
};

}  // namespace kmt
