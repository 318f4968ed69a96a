// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how a census of page frames is stored in a snapshot.
#include "analysis/snapshot/census_text.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

const char* const kText =
    "frames 1000 5000\n"
    "kind slab 12 4 0 0 1\n"
    "kind other 3 3\n"
    "flags 0x0 2\n"
    "flags 0x100000800 1\n"
    "cgroup 1 \"/a \"b\" c\" 0 7\n"
    "cgroup 0 \"\" 0 0 1\n"
    "pageblocks 9 1 6 1 2 1 1 1\n"
    "in_mixed 0 3\n"
    "mixed_by_unmovable 1\n"
    "reserved_blocks 3\n"
    "caches_in_mixed kcore 5 1\n"
    "cache_in_mixed 7 4 2 dma-kmalloc 8\n"
    "note a note\n"
    "end\n";

TEST(CensusText, IsReadAndWritten) {
  const std::optional<PageCensus> census = census_of(kText);
  ASSERT_TRUE(census);
  EXPECT_EQ(census->frames, 1000u);
  EXPECT_EQ(census->pages[index_of(PageKind::slab)], 12u);
  EXPECT_EQ(census->blocks[index_of(PageKind::slab)][3], 1u);
  EXPECT_EQ(census->other_flags[1].flags, 0x100000800u);
  EXPECT_EQ(census->cgroups[0].path, "/a \"b\" c");
  EXPECT_EQ(census->cgroups[0].pages[1], 7u);
  EXPECT_EQ(census->pageblocks.uncertain, 1u);
  EXPECT_TRUE(census->pageblocks.order_is_known);
  EXPECT_EQ(census->pageblocks.reserved, 3u);
  const CachesInBlocks& caches = census->pageblocks.caches;
  EXPECT_EQ(caches.source, SlabSource::kcore);
  EXPECT_EQ(caches.blocks, 5u);
  EXPECT_EQ(caches.unknown, 1u);
  ASSERT_EQ(caches.rows.size(), 1u);
  EXPECT_EQ(caches.rows[0].cache, "dma-kmalloc 8");
  EXPECT_EQ(caches.rows[0].pages, 7u);
  EXPECT_EQ(caches.rows[0].blocks, 4u);
  EXPECT_EQ(caches.rows[0].alone, 2u);
  EXPECT_EQ(census->notes, std::vector<std::string>{"a note"});
  EXPECT_EQ(census_text(*census), kText);
}

TEST(CensusText, StatesWhyCachesAreUnknown) {
  PageCensus census;
  census.pageblocks.caches.failure = "Not permitted.\nRun it as root";
  const std::optional<PageCensus> read = census_of(census_text(census));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pageblocks.caches.failure, "Not permitted. Run it as root");
}

TEST(CensusText, DamageIsFound) {
  const std::string text = kText;
  for (std::size_t length = 0; length + 1 < text.size(); ++length) EXPECT_FALSE(census_of(text.substr(0, length)));
  for (const char* const line :
       {"kind none 1\n", "kind slab x\n", "kind slab 1 -1\n", "flags x 1\n", "flags 0x1 1 1\n", "cgroup 1\n",
        "cgroup 1 \"\n", "cgroup 1 \"a\" 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", "pageblocks 99 1 0 0 0 0 0 0\n",
        "pageblocks 9 1 0 0\n", "frames 1\n", "caches_in_mixed disk 1 1\n", "caches_in_mixed bpf 1\n",
        "cache_in_mixed 1 1 x a\n", "reserved_blocks -1\n"})
    EXPECT_FALSE(census_of(line + text)) << line;
  EXPECT_TRUE(census_of("of a later version\n" + text));
}

}  // namespace
}  // namespace kmt
