// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/slab_account.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

// The kernel may merge jbd2_inode with other caches, so the allocating function alone must identify its objects.
TEST(SlabAccount, JournalDataOfInodesIsFreedWithInodes) {
  EXPECT_TRUE(is_shrinkable("jbd2_inode", ""));
  EXPECT_TRUE(is_shrinkable("dmaengine-unmap-2", "ext4_inode_attach_jinode"));
  EXPECT_TRUE(is_shrinkable_site("ext4_inode_attach_jinode+0x4a"));
  EXPECT_FALSE(is_reclaimable_cache("jbd2_inode", "ext4_inode_attach_jinode"));
}

TEST(SlabAccount, JournalHeadsAreReclaimable) {
  EXPECT_TRUE(is_reclaimable_cache("jbd2_journal_head", ""));
  EXPECT_TRUE(is_reclaimable_cache("", "jbd2_journal_add_journal_head"));
}

// The kernel keeps the vmap_area objects of freed areas for some time. Linux 6.1 may merge their cache with others.
TEST(SlabAccount, VmallocAreasAreFreedLater) {
  EXPECT_TRUE(is_shrinkable("vmap_area", ""));
  EXPECT_TRUE(is_shrinkable_site("alloc_vmap_area+0x9d"));
  EXPECT_FALSE(is_shrinkable_site("__get_vm_area_node+0xb1")) << "vm_struct is freed with the memory";
}

TEST(SlabAccount, OtherCachesAreNotReclaimable) {
  EXPECT_FALSE(is_shrinkable("dmaengine-unmap-2", "dmaengine_get_unmap_data"));
  EXPECT_FALSE(is_shrinkable("kmalloc-1k", "alloc_pipe_info"));
}

TEST(SlabAccount, SomeFunctionsNameTheCache) {
  EXPECT_EQ(only_cache_of("__alloc_file"), "filp");
  EXPECT_EQ(only_cache_of("__alloc_skb"), "");
}

}  // namespace
}  // namespace kmt
