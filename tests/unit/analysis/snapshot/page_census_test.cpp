// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/snapshot/page_census.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace kmt {
namespace {

constexpr std::int64_t kPage = 4096;

SnapshotResult snapshot_with(std::vector<BalanceLine> sheet, std::uint64_t total_pages) {
  SnapshotResult snapshot;
  snapshot.total = total_pages * kPage;
  snapshot.sheet = std::move(sheet);
  return snapshot;
}

BalanceLine sheet_line(std::string id, std::int64_t pages, unsigned depth = 0) {
  return {.id = id, .label = id, .bytes = pages * kPage, .depth = depth};
}

const PageComparison& row_of(const PageCensus& census, PageKind kind) {
  return *std::ranges::find(census.comparisons, kind, &PageComparison::kind);
}

// Each line of the balance sheet is compared with one kind of pages, so the differences add up to that of the sheet.
TEST(PageCensus, ComparesEachLineOfTheSheetOnce) {
  const SnapshotResult snapshot =
      snapshot_with({sheet_line("free", 110), sheet_line("free.buddy", 100, 1), sheet_line("free.cpu-lists", 10, 1),
                     sheet_line("user", 60), sheet_line("user.anonymous", 40, 1), sheet_line("user.file", 15, 1),
                     sheet_line("user.buffers", 5, 1), sheet_line("slab", 33), sheet_line("slab.in-use", 30, 1),
                     sheet_line("slab.large", 3, 1), sheet_line("vmalloc", 7), sheet_line("unaccounted", 20)},
                    230);
  PageCensus census;
  census.pages[index_of(PageKind::free)] = 101;
  census.pages[index_of(PageKind::anonymous)] = 36;
  census.pages[index_of(PageKind::ksm)] = 4;
  census.pages[index_of(PageKind::file)] = 20;
  census.pages[index_of(PageKind::slab)] = 30;
  census.pages[index_of(PageKind::other)] = 19;
  census.pages[index_of(PageKind::unmarked)] = 20;
  census.pages[index_of(PageKind::reserved)] = 1000;
  census.pages[index_of(PageKind::offline)] = 50;
  compare_with_counters(snapshot, census);

  EXPECT_EQ(census.in_total, 230u);
  EXPECT_EQ(row_of(census, PageKind::free).counted, 100 * kPage);
  EXPECT_EQ(row_of(census, PageKind::anonymous).bytes, 40u * kPage) << "with the pages merged by KSM";
  EXPECT_EQ(row_of(census, PageKind::file).counted, 20 * kPage);
  EXPECT_EQ(row_of(census, PageKind::slab).counted, 30 * kPage);
  EXPECT_EQ(row_of(census, PageKind::other).bytes, 39u * kPage);
  EXPECT_EQ(row_of(census, PageKind::other).counted, 40 * kPage);
  EXPECT_FALSE(row_of(census, PageKind::hugetlb).counted) << "the sheet has no such line";
  std::int64_t sum = 0;
  for (const PageComparison& row : census.comparisons) sum += row.counted.value_or(0);
  EXPECT_EQ(sum, 230 * kPage);

  ASSERT_EQ(census.other_parts.size(), 4u);
  EXPECT_EQ(census.other_parts[0].label, "unaccounted");
  EXPECT_EQ(census.other_parts[1].label, "free, free.cpu-lists");
  EXPECT_EQ(census.other_parts[2].label, "vmalloc");
  EXPECT_EQ(census.other_parts[3].label, "slab, slab.large");
}

TEST(PageCensus, ShowsUnknownCountersAsUnknown) {
  BalanceLine unknown = sheet_line("hugetlb", 0);
  unknown.known = false;
  const SnapshotResult snapshot = snapshot_with({sheet_line("unaccounted", 10), unknown}, 10);
  PageCensus census;
  compare_with_counters(snapshot, census);
  EXPECT_FALSE(row_of(census, PageKind::hugetlb).counted);
}

TEST(PageCensus, NotesFreePagesWithoutFlags) {
  SnapshotResult snapshot = snapshot_with({sheet_line("free", 1000)}, 1000);
  snapshot.memory.meminfo = {{"MemFree", 1000 * kPage, true}};
  PageCensus few;
  few.pages[index_of(PageKind::free)] = 10;
  compare_with_counters(snapshot, few);
  EXPECT_EQ(few.notes.size(), 1u);
  PageCensus most;
  most.pages[index_of(PageKind::free)] = 950;
  compare_with_counters(snapshot, most);
  EXPECT_TRUE(most.notes.empty());
}

TEST(PageCensus, NamesCgroups) {
  PageCensus census;
  census.cgroups = {{{}, 0, {}}, {{}, 7, {}}, {{}, 8, {}}};
  name_cgroups({{7, "/a"}, {9, "/b"}}, census);
  EXPECT_EQ(census.cgroups[0].path, "");
  EXPECT_EQ(census.cgroups[1].path, "/a");
  EXPECT_EQ(census.cgroups[2].path, "");
}

// The examples are computed by hand with the integer formulas of mm/vmstat.c.
TEST(PageCensus, ComputesFragmentationAsTheKernel) {
  MemoryZone zone;
  zone.name = "Normal";
  EXPECT_FALSE(fragmentation_of(zone, 3)) << "nothing is free";

  zone.free = {4, 2, 0, 1, 1};  // 4 + 4 + 8 + 16 = 32 pages, of which 24 are in blocks of 8 pages or more
  const auto usable = fragmentation_of(zone, 3);
  ASSERT_TRUE(usable);
  EXPECT_DOUBLE_EQ(usable->unusable, 0.25);
  EXPECT_FALSE(usable->index) << "an allocation would succeed: the kernel shows -1.000";

  zone.free = {100, 30};  // 160 pages in 130 blocks; 1000 - (1000 + 160 * 1000 / 8) / 130 = 839
  const auto fragmented = fragmentation_of(zone, 3);
  ASSERT_TRUE(fragmented);
  EXPECT_DOUBLE_EQ(fragmented->unusable, 1);
  ASSERT_TRUE(fragmented->index);
  EXPECT_NEAR(*fragmented->index, 0.839, 0.001);

  zone.free = {2};  // 1000 - (1000 + 2 * 1000 / 8) / 2 = 375
  EXPECT_NEAR(fragmentation_of(zone, 3)->index.value_or(-1), 0.375, 0.001);
}

TEST(PageCensus, TakesTheLargestOrderFromBuddyinfo) {
  KernelMemory memory;
  EXPECT_EQ(largest_free_order(memory), 10u);
  memory.zones.resize(1);
  memory.zones[0].free.resize(14);  // ARM64 with pages of 64 KiB
  EXPECT_EQ(largest_free_order(memory), 13u);
}

}  // namespace
}  // namespace kmt
