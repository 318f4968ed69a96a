// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/function_name.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(FunctionOf, RemovesCompilerSuffixesAndOffsets) {
  EXPECT_EQ(function_of("copy_process+0x20e"), "copy_process");
  EXPECT_EQ(function_of("seq_open"), "seq_open");
  EXPECT_EQ(function_of("ext4_alloc_inode+0x1f [ext4]"), "ext4_alloc_inode");
  EXPECT_EQ(function_of("ext4_alloc_inode [ext4]"), "ext4_alloc_inode");
  EXPECT_EQ(function_of("kmalloc_array.constprop.0+0x4 [virtio_blk]"), "kmalloc_array");
  EXPECT_EQ(function_of("a.part.0+0x1"), "a");
  EXPECT_EQ(function_of("a.constprop.12.isra.0+0x1"), "a");
  EXPECT_EQ(function_of("a.isra.0.cold+0x1 [m]"), "a");
  EXPECT_EQ(function_of("a.__uniq.123.llvm.456+0x1"), "a");
  EXPECT_EQ(function_of("a.b"), "a.b");
  EXPECT_EQ(function_of("0xffffffff81000000"), "0xffffffff81000000");
  EXPECT_EQ(function_of(".cold"), ".cold");
}

TEST(MatchesSite, BracketsOfAModuleAreNoCharacterClass) {
  const std::string site = "brd_insert_page.isra.0+0x4d [brd]";
  for (const char* const glob : {"*[brd]", "* [brd]", "brd_insert_page.isra.0+0x4d [brd]", "brd_insert_page [brd]",
                                 "brd_*+0x4d [brd]", "brd_insert_page", "brd_insert_pag[aeiou]", "*_page"})
    EXPECT_TRUE(matches_site(glob, site)) << glob;
  for (const char* const glob : {"*[zram]", "* [br]", "brd_insert_page [zram]", "brd_insert_page+0x4d"})
    EXPECT_FALSE(matches_site(glob, site)) << glob;
  EXPECT_FALSE(matches_site("*[brd]", "vfs_read+0x10")) << "ends with a letter of the suffix";
  EXPECT_TRUE(matches_site("*[a-d]", "vfs_read+0x10"));
}

}  // namespace
}  // namespace kmt
