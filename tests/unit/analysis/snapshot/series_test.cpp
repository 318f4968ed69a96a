// SPDX-License-Identifier: GPL-2.0-or-later
// Tests series of snapshots: how they are stored, how damage affects them, and what growth is reported.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/report/older_objects.hpp"
#include "analysis/snapshot/series.hpp"
#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "formats/kmt/snapshot.hpp"
#include "results/series/thresholds.hpp"
#include "snapshot/parse.hpp"
#include "views/json/series.hpp"
#include "views/text/series.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {
namespace {

using kmt_format::SnapshotReader;
using kmt_format::SnapshotWriter;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Returns a text like those of the kernel: most of it stays the same, and some numbers change.
StateSample sample_at(unsigned time) {
  std::mt19937 random(time);
  std::string text;
  for (unsigned line = 0; line < 2000; ++line)
    text += fmt::format("name_of_line_{} {}\n", line, line % 50 == 0 ? random() : line * 1000);
  return {time * kSecond, 1'700'000'000 * kSecond + time * kSecond, {{"vmstat", std::move(text)}}};
}

class SnapshotSeriesFile : public ::testing::Test {
 protected:
  void SetUp() override {
    write([](unsigned i) { return sample_at(i); });
  }
  template <typename SampleOf>
  void write(SampleOf sample_of) {
    SnapshotWriter writer(path, KernelDescription{});
    for (unsigned i = 0; i < kSamples; ++i) writer.add(sample_of(i));
    writer.finish();
    const std::string text = read_file(path);
    bytes.assign(text.begin(), text.end());
  }
  void TearDown() override { std::filesystem::remove(path); }
  TraceFile file() const { return {path, bytes, nullptr}; }

  static constexpr unsigned kSamples = 150;
  std::string path = ::testing::TempDir() + fmt::format("series{}.kmt", ::getpid());
  std::vector<std::uint8_t> bytes;
};

TEST_F(SnapshotSeriesFile, IsReadBackUnchangedAndGrowsLittle) {
  SnapshotReader reader(file());
  ASSERT_EQ(reader.size(), kSamples);
  EXPECT_TRUE(reader.finished());
  for (const unsigned i : {0u, 1u, 63u, 64u, 65u, 66u, 149u, 3u}) {
    const StateSample sample = reader.at(i);
    EXPECT_EQ(sample.ticks, i * kSecond);
    EXPECT_EQ(sample.texts, sample_at(i).texts) << i;
  }
  SnapshotWriter alone(path, KernelDescription{});
  alone.add(sample_at(0));
  EXPECT_LT(bytes.size(), alone.bytes() * kSamples / 5);
}

TEST_F(SnapshotSeriesFile, OfAKilledWriterHasAllSnapshots) {
  bytes.resize(bytes.size() / 2);
  SnapshotReader reader(file());
  EXPECT_FALSE(reader.finished());
  ASSERT_GT(reader.size(), kSamples / 3);
  for (std::size_t i = 0; i < reader.size(); ++i)
    EXPECT_EQ(reader.at(i).texts, sample_at(static_cast<unsigned>(i)).texts);
}

// A sample with a large new text is stored completely, and so begins another group.
TEST_F(SnapshotSeriesFile, DamageOfACompleteSnapshotLosesOnlyItsGroup) {
  constexpr unsigned kFirstGroup = 60;
  std::mt19937 random(1);
  StateSample other = sample_at(kFirstGroup);
  std::string& text = other.texts.emplace_back("dmesg", "").second;
  for (int i = 0; i < 200'000; ++i) text += static_cast<char>('a' + random() % 26);
  write([&other](unsigned i) { return i == kFirstGroup ? other : sample_at(i); });

  std::uint64_t offset = kmt_format::kFileHeaderBytes;
  std::optional<kmt_format::Chunk> first;
  while (!first) {
    const auto chunk = kmt_format::find_chunk(bytes, offset);
    ASSERT_TRUE(chunk);
    if (chunk->type == kmt_format::kState) first = chunk;
    offset = chunk->end();
  }
  bytes[first->offset + kmt_format::kChunkHeaderBytes + 5] ^= 1;  // damages the chunk's payload
  SnapshotReader damaged(file());
  ASSERT_EQ(damaged.size(), kSamples);
  EXPECT_THROW(damaged.at(0), Error);
  EXPECT_THROW(damaged.at(10), Error);
  EXPECT_EQ(damaged.at(140).texts, sample_at(140).texts);
  bytes[first->offset] ^= 1;  // damages the header of the chunk
  SnapshotReader without(file());
  EXPECT_EQ(without.without_base(), kFirstGroup - 1);
  EXPECT_EQ(without.size(), kSamples - kFirstGroup);
  EXPECT_EQ(without.at(without.size() - 1).texts, sample_at(kSamples - 1).texts);
}

std::string meminfo(unsigned slab_kb) {
  return fmt::format(
      "MemTotal: 1000000 kB\nMemFree: {} kB\nBuffers: 0 kB\nCached: 0 kB\nAnonPages: 3000 kB\nShmem: 0 kB\nSlab: {} "
      "kB\n"
      "KernelStack: 0 kB\nPageTables: 0 kB\nVmallocUsed: 0 kB\n",
      500000 - slab_kb, slab_kb);
}
std::string slab_line(std::string_view name, unsigned slabs) {
  return fmt::format("{} {} {} 4096 1 1 : tunables 0 0 0 : slabdata {} {} 0\n", name, slabs, slabs, slabs, slabs);
}
const char* const kSlabHeader =
    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> "
    "<batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n";

class SnapshotSeriesGrowth : public ::testing::Test {
 protected:
  // Returns a series of 40 snapshots at intervals of 10 s. "leaky" grows by a page per second, "noisy" grows and
  // shrinks, "full" grew in the past.
  SnapshotSeries series(bool lacks_some = false) {
    SnapshotSeriesAnalysis analysis;
    std::mt19937 random(1);
    for (unsigned i = 0; i < 40; ++i) {
      const unsigned leaky = 100 + 10 * i;
      const unsigned noisy = 1000 + static_cast<unsigned>(random() % 20);
      StateSample sample;
      sample.unix_ns = kSecond * (1'000'000 + 10 * i);
      sample.texts.emplace_back("meminfo", meminfo(4 * (leaky + noisy + 500)));
      if (!lacks_some || i % 7 != 3)
        sample.texts.emplace_back("slabinfo", kSlabHeader + slab_line("leaky", leaky) + slab_line("noisy", noisy) +
                                                  slab_line("steady", 500) +
                                                  (i < 20 ? "" : slab_line("late", 100 * (i - 19))));
      sample.texts.emplace_back("allocinfo",
                                fmt::format("{} {} a.c:1 func:one\n4096 1 b.c:2 func:two\n", 4096 * leaky, leaky));
      analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
    }
    return analysis.finish(kThresholds.usual_bytes_per_s);
  }
  static const SnapshotRow* row(const SnapshotSeries& series, SnapshotPart part, std::string_view name) {
    for (const SnapshotRow& one : series.rows)
      if (one.part == part && one.name == name) return &one;
    return nullptr;
  }
};

// Each slab of 21 dentries has accounting data of 168 bytes in the unreclaimable kmalloc-192.
TEST_F(SnapshotSeriesGrowth, OfTheAccountingDataOfDentriesIsUncertain) {
  for (const std::string cache : {"dentry", "filp"}) {
    SnapshotSeriesAnalysis analysis;
    for (unsigned i = 0; i < 40; ++i) {
      const unsigned slabs = 100'000 + 1000 * i;
      StateSample sample;
      sample.texts.emplace_back("meminfo", meminfo(4 * slabs + slabs / 5));
      sample.texts.emplace_back(
          "slabinfo",
          kSlabHeader +
              fmt::format("{0} {1} {1} 192 21 1 : tunables 0 0 0 : slabdata {2} {2} 0\n", cache, 21 * slabs, slabs) +
              fmt::format("kmalloc-192 {0} {0} 192 21 1 : tunables 0 0 0 : slabdata {1} {1} 0\n", slabs, slabs / 21));
      analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
    }
    const SnapshotSeries found = analysis.finish(kThresholds.usual_bytes_per_s);
    EXPECT_EQ(row(found, SnapshotPart::slab_caches, "kmalloc-192")->verdict,
              cache == "dentry" ? LeakVerdict::uncertain : LeakVerdict::certain);
  }
}

// On a machine with 2 CPUs and one node, 64 objects of 4 KiB may be in sheaves since Linux 7.0. The cache grows by one
// such object or by two in each snapshot.
TEST_F(SnapshotSeriesGrowth, WithinTheSheavesIsUncertain) {
  const auto growth = [](const std::string& release, unsigned step) {
    SnapshotSeriesAnalysis analysis;
    for (unsigned i = 0; i < 40; ++i) {
      const unsigned slabs = 100 + step * i;
      StateSample sample;
      sample.texts = {{"uname", "Linux host " + release + " #1 SMP x86_64 GNU/Linux\n"},
                      {"meminfo", meminfo(4 * slabs)},
                      {"zoneinfo", "Node 0, zone   Normal\n  pages free 1\n    cpu: 0\n    cpu: 1\n"},
                      {"slabinfo", kSlabHeader + slab_line("leaky", slabs)}};
      analysis.add(take_stock(parse_snapshot(sample, 4096)), kSecond * i);
    }
    return analysis.finish(kThresholds.usual_bytes_per_s);
  };
  const SnapshotSeries within = growth("7.2.12", 1);
  for (const auto& [part, name] : {std::pair{SnapshotPart::slab_caches, "leaky"},
                                   {SnapshotPart::balance_sheet, "slab"},
                                   {SnapshotPart::balance_sheet, "slab.in-use"}}) {
    EXPECT_EQ(row(within, part, name)->verdict, LeakVerdict::uncertain) << name;
    EXPECT_EQ(row(growth("7.2.12", 2), part, name)->verdict, LeakVerdict::certain) << name;
    EXPECT_EQ(row(growth("6.12.1", 1), part, name)->verdict, LeakVerdict::certain) << name;
  }
  EXPECT_EQ(row(within, SnapshotPart::slab_caches, "leaky")->in_sheaves, 64 * 4096);
  EXPECT_EQ(row(growth("6.12.1", 1), SnapshotPart::slab_caches, "leaky")->in_sheaves, 0);
  EXPECT_FALSE(within.found());
  EXPECT_NE(text_series_leaks(within, {}, {}).find("sheaves"), std::string::npos);
}

// The memory grows as steadily as a leak, but is reclaimable.
TEST_F(SnapshotSeriesGrowth, OfDentriesAndTheirSlabIsUncertain) {
  SnapshotSeriesAnalysis analysis;
  for (unsigned i = 0; i < 40; ++i) {
    const unsigned dentries = 100 + 10 * i;
    StateSample sample;
    sample.texts.emplace_back("meminfo",
                              meminfo(4 * (dentries + 500)) + fmt::format("SReclaimable: {} kB\n", 4 * dentries));
    sample.texts.emplace_back("slabinfo", kSlabHeader + slab_line("dentry", dentries) + slab_line("steady", 500));
    sample.texts.emplace_back("allocinfo",
                              fmt::format("{0} {1} fs/dcache.c:1 func:__d_alloc\n", 4096 * dentries, dentries));
    analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
  }
  const SnapshotSeries found = analysis.finish(kThresholds.usual_bytes_per_s);
  EXPECT_EQ(row(found, SnapshotPart::slab_caches, "dentry")->verdict, LeakVerdict::uncertain);
  EXPECT_EQ(row(found, SnapshotPart::allocinfo, "fs/dcache.c:1 __d_alloc")->verdict, LeakVerdict::uncertain);
  EXPECT_EQ(row(found, SnapshotPart::balance_sheet, "slab")->verdict, LeakVerdict::uncertain);
  EXPECT_FALSE(found.found());
}

// A machine with one node has no rows of nodes, because the balance sheet shows the same memory.
TEST_F(SnapshotSeriesGrowth, OfNodesIsShownButNotJudged) {
  const auto series_of_nodes = [](unsigned nodes) {
    SnapshotSeriesAnalysis analysis;
    for (unsigned i = 0; i < 40; ++i) {
      std::string text;
      for (unsigned node = 0; node < nodes; ++node)
        text += fmt::format("Node {0} MemTotal: 500000 kB\nNode {0} SUnreclaim: {1} kB\n", node,
                            100 + (node == 1 ? 8 * i : 0));
      const StateSample sample{0, 0, {{"meminfo", meminfo(500)}, {"node_meminfo", text}}};
      analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
    }
    return analysis.finish(kThresholds.usual_bytes_per_s);
  };
  const SnapshotSeries found = series_of_nodes(2);
  const SnapshotRow* grown = row(found, SnapshotPart::nodes, "node 1 SUnreclaim");
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->change(), 39 * 8 * 1024);
  EXPECT_FALSE(grown->judged);
  EXPECT_FALSE(found.found());
  EXPECT_EQ(row(found, SnapshotPart::nodes, "node 0 SUnreclaim"), nullptr);
  EXPECT_NE(text_series_report(found, {SeriesOrder::change}, {}).find("node 1 SUnreclaim"), std::string::npos);
  const auto json = nlohmann::json::parse(json_series(found, {SeriesOrder::change}));
  EXPECT_EQ(json["nodes"][0]["bytes"][39], (100 + 8 * 39) * 1024);
  EXPECT_EQ(row(series_of_nodes(1), SnapshotPart::nodes, "node 0 SUnreclaim"), nullptr);
}

TEST_F(SnapshotSeriesGrowth, OfRemovedCgroupsIsCountedButNotJudged) {
  SnapshotSeriesAnalysis analysis;
  for (unsigned i = 0; i < 40; ++i) {
    StateSample sample{0, 0, {{"meminfo", meminfo(500)}}};
    sample.texts.emplace_back("cgroups", fmt::format("/jobs/cgroup.stat:nr_dying_descendants {}\n", 50 * i));
    analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
  }
  const SnapshotSeries found = analysis.finish(kThresholds.usual_bytes_per_s);
  const SnapshotRow* jobs = row(found, SnapshotPart::dying_cgroups, "/jobs");
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->values.front(), 0);
  EXPECT_EQ(jobs->values.back(), 1950);
  EXPECT_FALSE(jobs->judged);
  EXPECT_FALSE(found.found());
  const std::string text = text_series_report(found, {SeriesOrder::change}, {});
  EXPECT_NE(text.find("Removed cgroups that still hold memory, by change, all 1"), std::string::npos) << text;
  EXPECT_NE(text.find("+1,950"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(json_series(found, {SeriesOrder::change}));
  EXPECT_EQ(json["dying_cgroups"][0]["counts"][39], 1950);
  EXPECT_FALSE(json["dying_cgroups"][0].contains("bytes"));
}

// The memory grew during a part of the time, and has stayed constant since then.
TEST_F(SnapshotSeriesGrowth, IsPastIfItHasStopped) {
  for (const unsigned until : {27u, 28u, 29u}) {
    SnapshotSeriesAnalysis analysis;
    for (unsigned i = 0; i < 40; ++i) {
      const unsigned slabs = 100 + 25 * std::min(i, until);
      StateSample sample{0, 0, {{"meminfo", meminfo(4 * slabs)}, {"slabinfo", kSlabHeader + slab_line("held", slabs)}}};
      analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
    }
    const SnapshotSeries found = analysis.finish(kThresholds.usual_bytes_per_s);
    EXPECT_EQ(row(found, SnapshotPart::slab_caches, "held")->verdict, LeakVerdict::past) << until;
    EXPECT_FALSE(found.found());
  }
}

TEST_F(SnapshotSeriesGrowth, IsFoundInEverySourceWithoutFalsePositives) {
  for (const bool lacks_some : {false, true}) {
    const SnapshotSeries found = series(lacks_some);
    EXPECT_TRUE(found.found());
    const SnapshotRow* leaky = row(found, SnapshotPart::slab_caches, "leaky");
    ASSERT_TRUE(leaky);
    EXPECT_EQ(leaky->verdict, LeakVerdict::certain);
    EXPECT_NEAR(leaky->trend.bytes_per_s, 4096, 50);
    EXPECT_EQ(row(found, SnapshotPart::allocinfo, "a.c:1 one")->verdict, LeakVerdict::certain);
    EXPECT_EQ(row(found, SnapshotPart::balance_sheet, "slab")->verdict, LeakVerdict::certain);
    EXPECT_NE(row(found, SnapshotPart::slab_caches, "noisy")->verdict, LeakVerdict::certain);
    EXPECT_FALSE(row(found, SnapshotPart::slab_caches, "steady"));
    EXPECT_FALSE(row(found, SnapshotPart::allocinfo, "b.c:2 two"));
    EXPECT_FALSE(row(found, SnapshotPart::balance_sheet, "free")->judged);
    EXPECT_EQ(row(found, SnapshotPart::slab_caches, "late")->verdict, LeakVerdict::certain);
    EXPECT_EQ(row(found, SnapshotPart::slab_caches, "late")->values.size(), 40u);
  }
}

TEST_F(SnapshotSeriesGrowth, OfATruncatedMeminfoIsNotReported) {
  const auto cut = [](SnapshotSeriesAnalysis& analysis, unsigned i, bool is_cut) {
    StateSample sample{0, kSecond * (1'000'000 + 10 * i), {{"meminfo", meminfo(4 * (500 + 10 * i))}}};
    if (is_cut) sample.texts.emplace_back("missing", "meminfo\tonly the first 4 KiB were read\t\n");
    analysis.add(take_stock(parse_snapshot(sample, 4096)), 10 * kSecond * i);
  };
  SnapshotSeriesAnalysis all;
  for (unsigned i = 0; i < 40; ++i) cut(all, i, true);
  const SnapshotSeries nothing = all.finish(kThresholds.usual_bytes_per_s);
  EXPECT_TRUE(nothing.rows.empty());
  EXPECT_FALSE(text_series_leaks(nothing, {}, {}).empty());
  EXPECT_FALSE(text_series_report(nothing, {SeriesOrder::change}, {}).empty());
  EXPECT_FALSE(text_series_timeline(nothing, {SeriesOrder::change}, {}).empty());
  SnapshotSeriesAnalysis first;
  for (unsigned i = 0; i < 40; ++i) cut(first, i, i == 0);
  const SnapshotSeries later = first.finish(kThresholds.usual_bytes_per_s);
  const SnapshotRow* slab = row(later, SnapshotPart::balance_sheet, "slab");
  ASSERT_TRUE(slab);
  EXPECT_EQ(slab->values.size(), 39u);
  EXPECT_EQ(slab->verdict, LeakVerdict::certain);
}

TEST_F(SnapshotSeriesGrowth, IsShownWithTheFastestFirst) {
  const SnapshotSeries found = series();
  const std::string text = text_series_leaks(found, {}, {});
  EXPECT_NE(text.find("Growth: certain. At least one row grows faster than the threshold of "), std::string::npos)
      << text;
  EXPECT_LT(text.find("late "), text.find("leaky "));
  EXPECT_NE(text_series_report(found, {SeriesOrder::change}, {}).find("noisy"), std::string::npos);
  EXPECT_NE(text_series_timeline(found, {SeriesOrder::change}, {}).find("leaky"), std::string::npos);
}

TEST_F(SnapshotSeriesGrowth, IsDocumented) {
  const auto json = nlohmann::json::parse(json_series(series(), {}));
  const std::string document = read_file(std::string(KMEMTRACE_DOCS) + "/formats/series-json.md");
  const auto expect_documented = [&](const nlohmann::json& object) {
    for (const auto& [key, value] : object.items())
      if (!key.ends_with("_total")) {
        EXPECT_NE(document.find('`' + key + '`'), std::string::npos) << key;
      }
  };
  expect_documented(json);
  expect_documented(json["balance"][0]);
}

TEST(SnapshotsDiff, CountsRemovedCgroups) {
  const auto of = [](const char* cgroups) {
    return take_stock(parse_snapshot({0, 0, {{"meminfo", meminfo(100)}, {"cgroups", cgroups}}}, 4096));
  };
  const SnapshotDiff changed =
      diff(of("/jobs/cgroup.stat:nr_dying_descendants 3\n"), of("/jobs/cgroup.stat:nr_dying_descendants 10003\n"));
  ASSERT_EQ(changed.dying_cgroups.size(), 1u);
  EXPECT_EQ(changed.dying_cgroups[0].name, "/jobs");
  EXPECT_EQ(changed.dying_cgroups[0].b - changed.dying_cgroups[0].a, 10000);
  EXPECT_NE(text_snapshot_diff(changed, {}, {}).find("+10,000"), std::string::npos);
  // Version 1 cgroups, and all cgroups before Linux 4.14, have no counts of removed cgroups.
  const SnapshotDiff unknown =
      diff(of("/jobs/memory.stat:slab 4096\n"), of("/jobs/cgroup.stat:nr_dying_descendants 3\n"));
  EXPECT_TRUE(unknown.dying_cgroups.empty());
  EXPECT_EQ(unknown.not_compared, std::vector{SnapshotPart::dying_cgroups});
}

TEST(SnapshotsDiff, ValuesOfOnlyOneSnapshotAreNoChange) {
  const auto of = [](const char* more) {
    StateSample sample{0, 0, {{"meminfo", meminfo(100)}, {"slabinfo", kSlabHeader + slab_line("a", 10)}}};
    if (*more != '\0') sample.texts.emplace_back("allocinfo", more);
    return take_stock(parse_snapshot(sample, 4096));
  };
  const SnapshotDiff one_lacks = diff(of("4096 1 a.c:1 func:one\n"), of(""));
  EXPECT_TRUE(one_lacks.allocinfo.empty());
  EXPECT_EQ(one_lacks.not_compared, std::vector{SnapshotPart::allocinfo});
  const SnapshotDiff both = diff(of("4096 1 a.c:1 func:one\n"), of("8192 2 a.c:1 func:one\n"));
  EXPECT_EQ(both.allocinfo.size(), 1u);
  EXPECT_TRUE(both.not_compared.empty());
}

// A report in the kernel's log lists only the largest call sites. A call site that is not listed may be small, or may
// have no memory.
TEST(SnapshotsDiff, OnlyCallSitesInBothListsAreCompared) {
  const auto of = [](const char* sites) {
    StateSample sample{0, 0, {{"meminfo", meminfo(100)}, {"allocinfo", sites}}};
    sample.texts.emplace_back("missing", "allocinfo\tonly the largest call sites\t\n");
    return take_stock(parse_snapshot(sample, 4096));
  };
  const SnapshotDiff found =
      diff(of("4096 1 a.c:1 func:one\n512 1 b.c:1 func:two\n"), of("8192 2 a.c:1 func:one\n1024 1 c.c:1 func:three\n"));
  ASSERT_EQ(found.allocinfo.size(), 1u);
  EXPECT_EQ(found.allocinfo[0].b, 8192);
  EXPECT_EQ(found.not_compared, std::vector{SnapshotPart::allocinfo});
}

TEST(OlderObjectsOfATrace, AreComparedWithTheFirstSample) {
  TraceInfo info;
  info.tables.cache_names = {"", "dentry", "traced", "gone"};
  info.recording.samples.push_back(
      {5 * kSecond,
       0,
       {{"slabinfo", kSlabHeader + slab_line("dentry", 10) + slab_line("traced", 30) + slab_line("kmalloc-64", 7) +
                         slab_line("dma-kmalloc-64", 1)},
        {"alloc_traces",
         "traced/alloc_traces:     20 one+0x1/0x2 age=1 pid=1\ntraced/alloc_traces:        "
         "one+0x1/0x2\ntraced/alloc_traces:      3 two+0x1/0x2 age=1 pid=1\n"}}});
  const auto older = older_objects(info, {4, 11, 2, 1}, 5 * kSecond);
  ASSERT_EQ(older.caches.size(), 4u);
  EXPECT_EQ(older.lived, 10u + 23 + 7 + 1);
  EXPECT_EQ(older.caches[0].cache, "dentry");
  EXPECT_EQ(older.caches[0].lived, 10u);
  EXPECT_FALSE(older.caches[0].exact);
  EXPECT_EQ(older.caches[1].lived, 8u);  // all kmalloc caches
  EXPECT_EQ(older.caches[2].lived, 23u);
  EXPECT_TRUE(older.caches[2].exact);
  EXPECT_FALSE(older.caches[3].lived);
  Findings findings;
  add_findings(older, findings);
  EXPECT_EQ(findings.count_of(Imperfection::more_frees_than_lived), 1u);
  // A sample that was taken after the first event does not describe the start.
  EXPECT_FALSE(older_objects(info, {4, 11, 2, 1}, kSecond).lived);
  // If the list of call sites was cut off, the numbers in slabinfo are used.
  info.recording.samples[0].texts.emplace_back("missing", "alloc_traces\tonly the first 4 KiB were read\t\n");
  const auto cut = older_objects(info, {4, 11, 2, 1}, 5 * kSecond);
  EXPECT_EQ(cut.caches[2].lived, 30u);
  EXPECT_FALSE(cut.caches[2].exact);
  info.recording.samples[0].texts[0].second =
      std::string(kSlabHeader) + "dentry 18446744073709551615 1 4096 1 1 : tunables 0 0 0 : slabdata 1 1 0\n";
  EXPECT_FALSE(older_objects(info, {4, 11, 2, 1}, 5 * kSecond).lived);
}

}  // namespace
}  // namespace kmt
