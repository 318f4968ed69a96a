// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/series/memory_series.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/file.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

StateSample sample(std::uint64_t time_ns, std::string name, std::string text) {
  return {time_ns, 0, {{std::move(name), std::move(text)}}};
}

std::vector<std::pair<std::uint64_t, double>> points_of(const std::vector<MemorySeries>& all, MemorySource source,
                                                        std::string_view name) {
  std::vector<std::pair<std::uint64_t, double>> points;
  for (const MemorySeries& series : all)
    if (series.source == source && series.name == name)
      for (const MemorySeriesPoint& point : series.points) points.emplace_back(point.time_ns, point.value);
  return points;
}

using Points = std::vector<std::pair<std::uint64_t, double>>;

TEST(MemorySeries, WithoutSamplesThereIsNoSeries) {
  EXPECT_TRUE(memory_series_of({}, 4096).empty());
  EXPECT_TRUE(memory_series_of({sample(1, "meminfo", "MemTotal: 5 kB\n"), sample(2, "buddyinfo", "x")}, 4096).empty());
}

TEST(MemorySeries, MeminfoIsInBytesAndMayHaveGaps) {
  const auto all = memory_series_of(
      {sample(10, "meminfo", "Slab:  100 kB\nSUnreclaim:   7 kB\n"), sample(20, "meminfo", "Slab:  90 kB\n"),
       sample(30, "meminfo", "Slab:  95 kB\nSUnreclaim:   9 kB\n")},
      4096);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(points_of(all, MemorySource::meminfo, "Slab"), (Points{{10, 102400}, {20, 92160}, {30, 97280}}));
  EXPECT_EQ(points_of(all, MemorySource::meminfo, "SUnreclaim"), (Points{{10, 7168}, {30, 9216}}));
}

TEST(MemorySeries, AddressSpaceIsNotMemory) {
  EXPECT_TRUE(memory_series_of({sample(1, "meminfo", "VmallocUsed: 9 kB\nVmallocChunk: 7 kB\n")}, 4096).empty());
  EXPECT_EQ(memory_series_of({sample(1, "meminfo", "VmallocUsed: 9 kB\nVmallocChunk: 0 kB\n")}, 4096).size(), 1u);
}

TEST(MemorySeries, VmstatGivesBytesAndRates) {
  const auto all = memory_series_of(
      {sample(0, "vmstat", "nr_slab_unreclaimable 3\npgalloc_normal 100\npgfree 50\n"),
       sample(kSecond / 2, "vmstat", "nr_slab_unreclaimable 5\npgalloc_normal 150\n"),
       sample(2 * kSecond, "vmstat", "pgalloc_normal 140\npgfree 70\n"),
       sample(2 * kSecond, "vmstat", "pgalloc_normal 200\n"), sample(3 * kSecond, "vmstat", "pgalloc_normal 201\n")},
      65536);
  EXPECT_EQ(points_of(all, MemorySource::vmstat, "nr_slab_unreclaimable"),
            (Points{{0, 3 * 65536.0}, {kSecond / 2, 5 * 65536.0}}));
  EXPECT_EQ(points_of(all, MemorySource::vmstat_rate, "pgalloc_normal"),
            (Points{{kSecond / 2, 100 * 65536.0}, {3 * kSecond, 65536.0}}));
  EXPECT_EQ(points_of(all, MemorySource::vmstat_rate, "pgfree"), (Points{{2 * kSecond, 10 * 65536.0}}));
}

constexpr std::string_view kHeader =
    "slabinfo - version: 2.1\n"
    "# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> "
    "<sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

TEST(MemorySeries, SlabinfoGivesObjectsAndPagesOfEachCache) {
  const std::string header(kHeader);
  const auto all = memory_series_of(
      {sample(1, "slabinfo",
              header + "dentry  30 42 192 21 2 : tunables    0    0    0 : slabdata      2      2      0\n"
                       "a b 1 1 8 512 1 : tunables 0 0 0 : slabdata 1 1 0\n"),
       sample(2, "slabinfo", header + "dentry  31 63 192 21 2 : tunables 0 0 0 : slabdata 2 3 0\n")},
      4096);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "dentry");
  EXPECT_EQ(points_of(all, MemorySource::slabinfo_objects, "dentry"), (Points{{1, 30 * 192}, {2, 31 * 192}}));
  EXPECT_EQ(points_of(all, MemorySource::slabinfo_pages, "dentry"), (Points{{1, 16384}, {2, 24576}}));
  EXPECT_EQ(points_of(all, MemorySource::slabinfo_pages, "a b"), (Points{{1, 4096}}));
}

TEST(MemorySeries, SlabinfoLimitsTheAccountingDataOfSlabs) {
  const std::string header(kHeader);
  const std::string kmalloc = "kmalloc-192 1 1 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  const auto all = memory_series_of(
      {sample(1, "slabinfo", header + kmalloc + "dentry 42 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\n"),
       sample(2, "slabinfo", header + kmalloc + "dentry 63 63 192 21 1 : tunables 0 0 0 : slabdata 3 3 0\n")},
      4096);
  const Points limits = {{1, 3 * 192}, {2, 4 * 192}};
  EXPECT_EQ(points_of(all, MemorySource::slab_extensions, "kmalloc-192"), limits);
  EXPECT_EQ(points_of(all, MemorySource::slab_extensions, "SUnreclaim"), limits);
}

TEST(MemorySeries, DamagedSlabinfoLinesAreSkipped) {
  for (const std::string line :
       {"", "dentry", " : tunables  : slabdata ", "1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0",
        "d 1 2 3 4 : tunables 0 0 0 : slabdata 1 1 0", "d 1 2 3 4 x : tunables 0 0 0 : slabdata 1 1 0",
        "d 1 2 3 4 -5 : tunables 0 0 0 : slabdata 1 1 0", "d 1 2 3 4 5 : slabdata 1 1 0 : tunables 0 0 0",
        "d 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 0", "d 1 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0x",
        "d 99999999999999999999 2 3 4 5 : tunables 0 0 0 : slabdata 1 1 0",
        "d 18446744073709551615 2 18446744073709551615 4 5 : tunables 0 0 0 : slabdata 1 1 0",
        " : tunables : slabdata 1 1 1"})
    EXPECT_TRUE(memory_series_of({sample(1, "slabinfo", line + "\n")}, 4096).empty()) << line;
}

// The pages of all caches are most of the kernel's slab memory, but not all of it. slabinfo does not list kmalloc
// objects of whole pages, and the two files are read one after the other.
TEST(MemorySeries, AgreesWithThisKernel) {
  const auto slabinfo = try_read_file("/proc/slabinfo");
  const auto meminfo = try_read_file("/proc/meminfo");
  if (!slabinfo || !meminfo) GTEST_SKIP() << "/proc/slabinfo cannot be read";
  const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto all = memory_series_of({StateSample{1, 0, {{"slabinfo", *slabinfo}, {"meminfo", *meminfo}}}}, page_size);
  double pages = 0;
  double objects = 0;
  for (const MemorySeries& series : all) {
    if (series.source == MemorySource::slabinfo_pages) pages += series.points[0].value;
    if (series.source == MemorySource::slabinfo_objects) objects += series.points[0].value;
  }
  const auto slab = points_of(all, MemorySource::meminfo, "Slab");
  ASSERT_EQ(slab.size(), 1u);
  EXPECT_LT(pages / slab[0].second, 1.1);
  EXPECT_GT(pages / slab[0].second, 0.5);
  EXPECT_LT(objects, pages);
  EXPECT_GT(objects, pages / 4);
}

}  // namespace
}  // namespace kmt
