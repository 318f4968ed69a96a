// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that stacks show what pages are used for.
#include "analysis/matching/page_use.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kmt {
namespace {

using Stack = std::vector<std::string>;

PageUse use_of(const Stack& stack) { return page_use_of(stack); }

PageUse use_by_flags(std::uint32_t flags, const std::vector<FlagName>& names, unsigned order = 0) {
  return page_use_of(PageUseFlags(names), flags, order);
}

TEST(PageUse, IsFoundByTheInnermostKnownFunction) {
  EXPECT_EQ(use_of({"__alloc_pages_noprof+0x1", "__filemap_get_folio+0x200", "bdev_getblk+0x40"}), PageUse::page_cache);
  EXPECT_EQ(use_of({"pte_alloc_one+0x19", "__pte_alloc+0x26", "do_fault+0x1"}), PageUse::page_table);
  EXPECT_EQ(use_of({"alloc_pages+0x1", "__vmalloc_area_node+0x2"}), PageUse::vmalloc);
  EXPECT_EQ(use_of({"folio_alloc_mpol_noprof+0x3d", "vma_alloc_folio_noprof+0x6c", "do_anonymous_page+0x2"}),
            PageUse::user);
  EXPECT_EQ(use_of({"pte_alloc_one+0x19", "do_anonymous_page+0x2"}), PageUse::page_table);
  EXPECT_EQ(use_of({"anon_pipe_write+0x1a8", "vfs_write+0x1"}), PageUse::unknown);
  EXPECT_EQ(use_of({}), PageUse::unknown);
}

TEST(PageUse, TaskStacksAreVmallocAreasOfForks) {
  EXPECT_EQ(use_of({"__get_vm_area_node+0x1", "__vmalloc_node_range_noprof+0x2", "copy_process+0x3"}),
            PageUse::task_stack);
  EXPECT_EQ(use_of({"__vmalloc_node_range_noprof+0x2", "n_tty_open+0x3"}), PageUse::vmalloc);
}

TEST(PageUse, OfSlabsDependsOnTheirObjects) {
  EXPECT_EQ(use_of({"allocate_slab+0x1", "new_slab+0x2", "alloc_pipe_info+0xd7"}), PageUse::slab);
  EXPECT_EQ(use_of({"___kmalloc_large_node+0x1", "__kmalloc_large_node_noprof+0x2", "load_msg+0x1"}), PageUse::slab);
  EXPECT_EQ(use_of({"___slab_alloc+0x1", "__d_alloc+0x2d", "d_alloc+0x1"}), PageUse::reclaimable_slab);
  // The tree nodes of the page cache are slab objects. The pages of their slabs must count as reclaimable slab,
  // although the stack contains functions of the page cache.
  EXPECT_EQ(use_of({"___slab_alloc+0x1", "xas_alloc+0x3", "__filemap_get_folio+0x1"}), PageUse::reclaimable_slab);
}

// Page cache of block devices is recognised by the missing flag __GFP_FS, which grow_dev_folio() in fs/buffer.c clears.
// Memory for users and BPF maps is zeroed or accounted, so it has other flags.
TEST(PageUse, PageCacheOfBlockDevicesHasItsFlags) {
  const std::vector<FlagName> names = {{0x40, "__GFP_IO"},
                                       {0x80, "__GFP_FS"},
                                       {0x100, "__GFP_ZERO"},
                                       {0x100000, "__GFP_HARDWALL"},
                                       {0x400000, "__GFP_ACCOUNT"}};
  EXPECT_EQ(use_by_flags(0x100040, names), PageUse::page_cache);
  EXPECT_EQ(use_by_flags(0x1000C0, names), PageUse::unknown) << "GFP_USER";
  EXPECT_EQ(use_by_flags(0x100140, names), PageUse::unknown);
  EXPECT_EQ(use_by_flags(0x500040, names), PageUse::unknown);
  EXPECT_EQ(use_by_flags(0x40, names), PageUse::unknown) << "GFP_NOFS";
  EXPECT_EQ(use_by_flags(0x100040, {}), PageUse::unknown) << "a trace without names of flags";
}

// The flags are from a recording on Linux 6.18, in which stacks show what the pages are used for.
TEST(PageUse, SlabsAndPageTablesHaveTheirFlags) {
  const std::vector<FlagName> names = {{0x2, "__GFP_HIGHMEM"},
                                       {0x8, "__GFP_MOVABLE"},
                                       {0x40, "__GFP_IO"},
                                       {0x80, "__GFP_FS"},
                                       {0x100, "__GFP_ZERO"},
                                       {0x400, "__GFP_DIRECT_RECLAIM"},
                                       {0x800, "__GFP_KSWAPD_RECLAIM"},
                                       {0x2000, "__GFP_NOWARN"},
                                       {0x10000, "__GFP_NORETRY"},
                                       {0x40000, "__GFP_COMP"},
                                       {0x80000, "__GFP_NOMEMALLOC"},
                                       {0x100000, "__GFP_HARDWALL"},
                                       {0x400000, "__GFP_ACCOUNT"}};
  EXPECT_EQ(use_by_flags(0xD20C0, names, 3), PageUse::slab) << "a smaller order is possible";
  EXPECT_EQ(use_by_flags(0x52CC0, names), PageUse::slab);
  EXPECT_EQ(use_by_flags(0x52C40, names), PageUse::slab) << "GFP_NOFS";
  EXPECT_EQ(use_by_flags(0x520C0, names, 3), PageUse::unknown) << "skb_page_frag_refill()";
  EXPECT_EQ(use_by_flags(0xD2820, names, 3), PageUse::unknown) << "page_frag_cache";
  EXPECT_EQ(use_by_flags(0x52DC0, names, 1), PageUse::unknown) << "alloc_one_pg_vec_page()";
  EXPECT_EQ(use_by_flags(0x153CCA, names, 3), PageUse::unknown) << "readahead";
  EXPECT_EQ(use_by_flags(0x440DC0, names), PageUse::page_table);
  EXPECT_EQ(use_by_flags(0x440DC0, names, 2), PageUse::unknown) << "a large kmalloc";
  EXPECT_EQ(use_by_flags(0x400DC0, names), PageUse::unknown) << "get_zeroed_page(GFP_KERNEL_ACCOUNT)";
  EXPECT_EQ(use_by_flags(0x42800, names), PageUse::page_cache) << "__filemap_get_folio() that must not wait";
  EXPECT_EQ(use_by_flags(0x800, names), PageUse::unknown) << "tlb_next_batch()";
}

}  // namespace
}  // namespace kmt
