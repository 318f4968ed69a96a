// SPDX-License-Identifier: GPL-2.0-or-later
// Tests folders given with `investigate --from`: their order, their times, and data that an earlier investigation
// saved.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "base/error.hpp"
#include "capture/sideband/process_facts.hpp"
#include "cli/investigate/copies.hpp"
#include "cli/investigate/evidence.hpp"
#include "cli/investigate/sampled_caches.hpp"
#include "cli/support/names_in_time.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"
#include "results/series/thresholds.hpp"
#include "support/investigation_evidence.hpp"
#include "views/json/common.hpp"
#include "views/json/objects.hpp"

namespace kmt {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TEST(NamesInTime, StateTheOrder) {
  const auto sorted = [](Names names) { return sort_by_time_in_names(names) ? names : Names(); };
  EXPECT_EQ(sorted({"after", "before"}), (Names{"before", "after"}));
  EXPECT_EQ(sorted({"db1-End", "db1-Start"}), (Names{"db1-Start", "db1-End"}));
  EXPECT_EQ(sorted({"after", "before", "between"}), (Names{"before", "between", "after"}));
  EXPECT_EQ(sorted({"t1", "t10", "t2"}), (Names{"t1", "t2", "t10"}));
  EXPECT_EQ(sorted({"2026-11-22T10:05", "2026-11-22T09:59"}), (Names{"2026-11-22T09:59", "2026-11-22T10:05"}));
  EXPECT_EQ(sorted({"99999999999999999999", "100000000000000000000"}),
            (Names{"99999999999999999999", "100000000000000000000"}));
  EXPECT_EQ(sorted({"last", "first"}), (Names{"first", "last"}));
}

TEST(NamesInTime, StateNoOrderIfANameIsUnclear) {
  for (const Names& names : {Names{"alpha", "beta"}, Names{"before", "x", "y", "after"}, Names{"web1", "db2"},
                             Names{"before", "other"}, Names{"beforehand", "afterwards"}, Names{"t1", "t01"}}) {
    Names copy = names;
    EXPECT_FALSE(sort_by_time_in_names(copy)) << names.front();
    EXPECT_EQ(copy, names);
  }
}

class InvestigateCopies : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "copies.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  static std::string meminfo_of(unsigned slab_kb) {
    return "MemTotal: 100000 kB\nMemFree: 50000 kB\nBuffers: 0 kB\nCached: 0 kB\nAnonPages: 0 kB\nShmem: 0 kB\nSlab: " +
           std::to_string(slab_kb) + " kB\nKernelStack: 0 kB\nPageTables: 0 kB\nVmallocUsed: 0 kB\n";
  }
  // Writes a copy of the kernel's files with this number of kB in slabs.
  void state(const std::string& name, unsigned slab_kb, const std::string& uptime) const {
    write(name + "/meminfo", meminfo_of(slab_kb));
    if (!uptime.empty()) write(name + "/uptime", uptime + " 1.0\n");
  }
  CopiedKernel read(std::uint64_t duration_ns = 0) const { return read_copies(folder_, duration_ns); }
  static std::vector<std::uint64_t> slabs_of(const CopiedKernel& copied) {
    std::vector<std::uint64_t> slabs;
    for (const StateSample& one : copied.states) {
      const std::string_view text = text_of(one, "meminfo");
      slabs.push_back(std::strtoull(text.substr(text.find("Slab:") + 5).data(), nullptr, 10));
    }
    return slabs;
  }

  fs::path folder_;
};

TEST_F(InvestigateCopies, OrderIsByNameNotByModificationTime) {
  state("after", 300, "");
  state("before", 200, "");
  fs::last_write_time(folder_ / "after/meminfo", fs::file_time_type::clock::now() - std::chrono::hours(2));
  const CopiedKernel copied = read();
  EXPECT_EQ(slabs_of(copied), (std::vector<std::uint64_t>{200, 300}));
  EXPECT_EQ(copied.no_times, "not all copies have an uptime");
  EXPECT_EQ(copied.no_order, "");
  EXPECT_EQ(copied.states[1].ticks, 0u);
  EXPECT_EQ(number_or_0(copied.before->memory.meminfo, "Slab"), 200u * 1024);
}

TEST_F(InvestigateCopies, CopiesWithoutMeminfoAreReported) {
  state("t1", 1, "100.5");
  write("t2/vmstat", "nr_free_pages 1\n");
  write("notes/readme", "no copies\n");
  try {
    read();
    ADD_FAILURE() << "a single state cannot be compared";
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "There is no meminfo among the copies in t2: copy it too");
  }
  state("t3", 3, "160.5");
  EXPECT_EQ(read().lacking_meminfo, Names{"t2"});
}

TEST_F(InvestigateCopies, SlabinfoAloneIsAState) {
  for (const char* const name : {"t1", "t2"}) write(name + std::string("/slabinfo"), "slabinfo - version: 2.1\n");
  write("t3/slabinfo", "slabinfo - version: 2.1");
  write("t4/slabinfo", "");
  const CopiedKernel copied = read(10'000'000'000);
  EXPECT_EQ(copied.states.size(), 2u);
  EXPECT_EQ(copied.states.back().ticks, 10'000'000'000u);
  EXPECT_EQ(copied.only_slabinfo, (Names{"t1", "t2"}));
  EXPECT_EQ(copied.damaged, (Names{"t3: its slabinfo is cut off", "t4: its slabinfo is empty, or cannot be read"}));
  EXPECT_EQ(copied.after_path, "");
  EXPECT_FALSE(copied.after);
}

TEST_F(InvestigateCopies, DamagedCopiesAreSkippedAndNamed) {
  state("t1", 1, "100");
  state("t2", 2, "200");
  write("t2/vmstat", "nr_free_pages 12x4\n");
  state("t3", 3, "300");
  write("t4/meminfo", "");
  write("t4/slabinfo", "slabinfo - version: 2.1\n");
  const CopiedKernel copied = read();
  EXPECT_EQ(slabs_of(copied), (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(copied.damaged, (Names{"t2: Line 1 of vmstat is damaged: \"nr_free_pages 12x4\"",
                                   "t4: its meminfo is empty, or cannot be read"}));
  EXPECT_EQ(copied.after_path, folder_ / "t3");
}

// The page size is 64 KiB. It is the quotient of two values for free memory, because slabinfo does not contain the page
// size.
TEST_F(InvestigateCopies, ThePageSizeIsFromTheFirstStateThatShowsIt) {
  write("t1/slabinfo", "slabinfo - version: 2.1\n");
  for (const char* const name : {"t2", "t3"}) {
    state(name, 1, "");
    write(name + std::string("/vmstat"), "nr_free_pages 781\n");
  }
  EXPECT_EQ(read().page_size, 65'536u);
}

TEST_F(InvestigateCopies, TimesAreUptimesOrGivenByAnOption) {
  state("t9", 1, "100.5");
  state("t10", 2, "160.5");
  state("t11", 3, "400.5");
  EXPECT_EQ(read().states[1].ticks, 160'500'000'000u);
  EXPECT_EQ(read().no_times, "");
  const CopiedKernel said = read(10'000'000'000);
  EXPECT_EQ(said.states[0].ticks, 0u);
  EXPECT_EQ(said.states[1].ticks, 5'000'000'000u);
  EXPECT_EQ(said.no_times, "");
}

TEST_F(InvestigateCopies, UptimesThatContradictNamesAreIgnored) {
  state("before", 1, "900");
  state("after", 2, "100");
  const CopiedKernel copied = read();
  EXPECT_EQ(slabs_of(copied), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_NE(copied.no_times, "");
  EXPECT_NE(copied.no_order, "");
  EXPECT_NE(read(10'000'000'000).no_order, "");  // an option with the duration does not tell which copy is older
}

TEST_F(InvestigateCopies, ACopyWithoutUptimeIsSkipped) {
  for (unsigned i = 1; i <= 17; ++i) state("t" + std::to_string(i), i, i == 5 ? "" : std::to_string(100 + i));
  const CopiedKernel copied = read();
  EXPECT_EQ(copied.states.size(), 16u);
  EXPECT_EQ(copied.damaged, Names{"t5: it has no uptime, but other copies have one"});
  EXPECT_EQ(copied.no_times, "");
  EXPECT_EQ(copied.lacking_slabinfo.size(), 16u);
}

TEST_F(InvestigateCopies, IfAllCopiesAreDamagedReportsTheDamage) {
  write("t1/meminfo", "");
  write("t2/meminfo", "MemFree 12\r\n");
  try {
    read();
    ADD_FAILURE() << "no copy is complete";
  } catch (const Error& error) {
    EXPECT_NE(error.hint().find("t1: its meminfo is empty, or cannot be read; t2: "), std::string::npos)
        << error.hint();
  }
}

TEST_F(InvestigateCopies, UptimesGiveTheOrderIfNamesDoNot) {
  state("alpha", 2, "900");
  state("beta", 1, "100");
  EXPECT_EQ(slabs_of(read()), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(read().no_order, "");
  fs::remove(folder_ / "beta/uptime");
  EXPECT_NE(read().no_order.find("alpha, beta"), std::string::npos);
}

// Snapshots that `kmemtrace snapshot -o` has written.
TEST_F(InvestigateCopies, SnapshotsHaveTimes) {
  const auto snapshot = [&](const char* name, std::uint64_t unix_seconds) {
    StateSample sample;
    sample.unix_ns = unix_seconds * 1'000'000'000;
    sample.texts = {{"meminfo", meminfo_of(100)}};
    kmt_format::write_snapshot(folder_ / name, sample, {});
  };
  snapshot("before.kmt", 1'700'000'000);
  snapshot("after.kmt", 1'700'000'090);
  const CopiedKernel copied = read();
  ASSERT_EQ(copied.states.size(), 2u);
  EXPECT_EQ(copied.states[1].ticks - copied.states[0].ticks, 90'000'000'000u);
  EXPECT_EQ(copied.no_times, "");
  EXPECT_EQ(copied.after_path, folder_ / "after.kmt");
  EXPECT_EQ(read(10'000'000'000).states[1].ticks, 10'000'000'000u);
  snapshot("after.kmt", 1'600'000'000);
  EXPECT_NE(read().no_times, "");
}

// Returns evidence with some groups that grow and some that do not.
InvestigationEvidence watched() {
  InvestigationEvidence evidence;
  evidence.seconds = 32;
  evidence.threshold_bytes_per_s = 1000;
  evidence.trace_begin_seconds = 16;
  evidence.narrowing.sizes = {1024};
  GrowthSeen& seen = evidence.samples.emplace();
  seen.step_seconds = 0.5;
  seen.steps = 64;
  seen.mean_bytes = 4096;
  for (unsigned i = 0; i < 3; ++i) {
    GrowthGroup& group = seen.groups.emplace_back();
    group.stack = {"take" + std::to_string(i) + "+0x1", "__x64_sys_take\xff"};
    group.cache = "kmalloc-1k";
    group.task = "held";
    group.process = 5 + i;
    if (i == 2) group.excluded = true;
    for (std::size_t step = 0; step < seen.steps; ++step)
      group.live.push_back(i == 0 ? 100'000.25 * static_cast<double>(step + 1) : 5e6 * static_cast<double>(step % 2));
    group.bytes = group.live.back();
    group.objects = group.bytes / 1024;
    group.seen = 100;
  }
  MemorySeries& cache = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "kmalloc-1k", {}});
  for (std::uint64_t i = 0; i < 60; ++i)
    cache.points.push_back({i * 500'000'000, 1e6 + 100'000.0 * static_cast<double>(i)});
  return evidence;
}

TEST_F(InvestigateCopies, SavedEvidenceIsReadBackUnchanged) {
  const InvestigationEvidence before = watched();
  InvestigationResult result;
  result.kernel = "6.1.0";
  result.start_unix_ns = 17;
  result.trace_seconds = 8.5;
  result.cut_short = "it was interrupted";
  result.unseen.push_back({"a", "b", "c"});
  result.host = "db1";
  write(kEvidenceFile, json_evidence(result, before));
  const CopiedKernel copied = read();
  ASSERT_NE(copied.evidence, "");
  InvestigationResult again;
  InvestigationEvidence after;
  read_evidence(copied.evidence, again, after);
  EXPECT_EQ(again.kernel, "6.1.0");
  EXPECT_EQ(again.host, "db1");
  EXPECT_FALSE(again.complete);
  EXPECT_EQ(again.trace_seconds, 8.5);
  ASSERT_EQ(again.unseen.size(), 1u);
  EXPECT_EQ(again.unseen[0].how, "c");
  EXPECT_EQ(after.narrowing.sizes, before.narrowing.sizes);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(after.samples->groups[i].live, before.samples->groups[i].live) << i;
  const Judgement first = judge(before);
  const Judgement second = judge(after);
  ASSERT_EQ(first.findings.size(), 1u);
  ASSERT_EQ(second.findings.size(), 1u);
  EXPECT_EQ(second.findings[0].certainty, first.findings[0].certainty);
  EXPECT_EQ(second.findings[0].trend.bytes_per_s, first.findings[0].trend.bytes_per_s);
  EXPECT_EQ(second.excluded_bytes, first.excluded_bytes);
  EXPECT_EQ(second.judged, first.judged);
  EXPECT_EQ(second.states.size(), first.states.size());
}

// If the time was too short to rule out growth, the verdict must be the same when the evidence is read again.
TEST_F(InvestigateCopies, SavedEvidenceGivesTheSameResult) {
  for (const double seconds : {6.0, 32.0}) {
    InvestigationEvidence before = watched();
    before.samples->groups.erase(before.samples->groups.begin());  // removes the growing group
    for (MemorySeriesPoint& point : before.states.front().points) point.value = 1e6;
    before.seconds = seconds;
    const auto again_concluded = [](InvestigationResult result, const InvestigationEvidence& evidence) {
      result.seconds = evidence.seconds;
      result.judgement = judge(evidence);
      return planted::concluded(result);
    };
    InvestigationResult live;
    live.watched = true;
    live.cost.emplace();
    write(kEvidenceFile, json_evidence(live, before));
    InvestigationResult again;
    InvestigationEvidence after;
    read_evidence(folder_ / kEvidenceFile, again, after);
    const planted::Concluded first = again_concluded(live, before);
    const planted::Concluded second = again_concluded(again, after);
    EXPECT_EQ(first.verdict,
              seconds < kThresholds.shortest_watch ? GrowthVerdict::cannot_tell : GrowthVerdict::no_growth);
    EXPECT_EQ(second.verdict, first.verdict);
    EXPECT_EQ(second.words, first.words);
  }
}

std::string with_replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

TEST_F(InvestigateCopies, DamagedEvidenceIsRefused) {
  const std::string whole = json_evidence({}, watched());
  InvestigationResult result;
  InvestigationEvidence evidence;
  const auto replaced = [&](const char* what, const char* by) { return with_replaced(whole, what, by); };
  for (const std::string& text :
       {std::string(), std::string("{}"), whole.substr(0, whole.size() / 2), replaced("\"steps\":64", "\"steps\":60"),
        replaced("\"steps\":64", "\"steps\":600000000"), replaced("slabinfo-objects", "objects"),
        replaced("\"recording_after_seconds\":16.0", "\"recording_after_seconds\":-1"),
        replaced("\"recording_after_seconds\":16.0", "\"recording_after_seconds\":1e300"),
        replaced("\"seconds\":32.0", "\"seconds\":1e300"), replaced("\"start_unix_ns\":0", "\"start_unix_ns\":-7"),
        replaced("\"start_unix_ns\":0", "\"start_unix_ns\":1e300"), replaced("\"bytes\":", "\"bytes\":1e300,\"was\":"),
        replaced("\"step_seconds\":0.5", "\"step_seconds\":1e-300"), replaced("\"values\":[", "\"values\":[1e300,"),
        replaced("evidence/1", "evidence/2"), replaced("\"stack\":[\"take0+0x1\"", "\"stack\":[5")}) {
    write(kEvidenceFile, text);
    EXPECT_THROW(read_evidence(folder_ / kEvidenceFile, result, evidence), Error) << text.substr(0, 80);
  }
}

// A cache whose objects were sampled, with all kinds of words.
LargeCache sampled_cache() {
  LargeCache cache;
  cache.name = "kmalloc-192";
  cache.bytes = 4096;
  cache.end = ReadingEnd::most_bytes;
  cache.kinds.emplace();
  cache.kinds->cache = ":0000192";
  cache.kinds->aliases = {"kmalloc-192"};
  cache.kinds->object_size = 192;
  cache.kinds->slot_size = 256;
  cache.kinds->slabs_found = 7;
  cache.kinds->slabs_read = 5;
  cache.kinds->slabs_changed = 2;
  cache.kinds->slabs_unreadable = 1;
  cache.kinds->slabs_damaged = 3;
  cache.kinds->searched = 0.5;
  cache.kinds->knows_all_slots = true;
  cache.kinds->knows_cpu_lists = false;
  cache.kinds->sampled = 40;
  cache.kinds->objects = 16;
  cache.kinds->bytes = 4096;
  SlabKind kind;
  kind.symbol = "session_ops";
  kind.module = "leaky";
  kind.module_source = ModuleSource::neighbour;
  kind.structure = {"session", Confidence::medium};
  kind.share = 0.75;
  kind.sampled = 30;
  kind.objects = 12;
  kind.bytes = 3072;
  kind.members = {{8, {WordTarget::Kind::symbol, "session_ops", "leaky", 0}, 1},
                  {16, {WordTarget::Kind::object, "filp", "", 24}, 0.5},
                  {24, {WordTarget::Kind::list, "", "", 0}, 0.25},
                  {40, {WordTarget::Kind::itself, "", "", 40}, 1},
                  {48, {WordTarget::Kind::text, "", "", 0}, 1}};
  kind.addresses = {0xffff888000001000, 0xffff8880000010c0};
  cache.kinds->kinds = {kind, {}};
  return cache;
}

TEST_F(InvestigateCopies, KindsOfObjectsAreKept) {
  LargeCache unknown;
  unknown.name = "dentry";
  write(kObjectsFile, json_sampled_caches({unknown, sampled_cache()}, {}));
  std::vector<LargeCache> caches(3);
  caches[0].name = "other";
  caches[1].name = "kmalloc-192";
  caches[2].name = "dentry";
  read_sampled_caches(folder_ / kObjectsFile, caches);
  EXPECT_FALSE(caches[0].kinds || caches[2].kinds);
  ASSERT_TRUE(caches[1].kinds);
  const LargeCache expected = sampled_cache();
  constexpr std::size_t kAll = 10;
  EXPECT_EQ(json_cache_kinds(*caches[1].kinds, caches[1].end, kAll),
            json_cache_kinds(*expected.kinds, expected.end, kAll));
  EXPECT_EQ(json_sampled_caches(caches, {}), json_sampled_caches({expected}, {}));
  EXPECT_EQ(caches[1].end, ReadingEnd::most_bytes);
  EXPECT_TRUE(caches[1].kinds->knows_all_slots);
  EXPECT_EQ(caches[1].kinds->kinds[0].members[1].target, expected.kinds->kinds[0].members[1].target);
  EXPECT_EQ(caches[1].kinds->kinds[1].module_source, ModuleSource::unknown);
  EXPECT_EQ(json_sampled_caches({}, {}), "") << "there is nothing to keep";
}

TEST_F(InvestigateCopies, ReasonsForUnreadObjectsAreKept) {
  LargeCache unknown;
  unknown.name = "dentry";
  std::vector<LargeCache> caches = {unknown, sampled_cache()};
  caches[1].kinds.reset();
  write(kObjectsFile, json_sampled_caches({unknown, sampled_cache()}, UnseenSource{"dentry", "the kernel", "as root"}));
  const auto unread = read_sampled_caches(folder_ / kObjectsFile, caches);
  ASSERT_TRUE(unread);
  EXPECT_EQ(unread->what, "dentry");
  EXPECT_EQ(unread->why, "the kernel");
  EXPECT_EQ(unread->how, "as root");
  EXPECT_FALSE(caches[0].kinds);
  EXPECT_TRUE(caches[1].kinds);

  caches[1].kinds.reset();
  write(kObjectsFile, json_sampled_caches({unknown, sampled_cache()}, {}));
  EXPECT_FALSE(read_sampled_caches(folder_ / kObjectsFile, caches)) << "no objects are unread";

  caches[1].kinds.reset();
  write(kObjectsFile, with_replaced(json_sampled_caches({sampled_cache()}, UnseenSource{"dentry", "the kernel", ""}),
                                    "\"the kernel\"", "[]"));
  EXPECT_THROW(read_sampled_caches(folder_ / kObjectsFile, caches), Error);
  EXPECT_FALSE(caches[1].kinds) << "a damaged file changes nothing";
}

TEST_F(InvestigateCopies, DamagedKindsOfObjectsAreRefused) {
  const std::string whole = json_sampled_caches({sampled_cache()}, {});
  std::vector<LargeCache> caches(1);
  caches[0].name = "kmalloc-192";
  const auto replaced = [&](const char* what, const char* by) { return with_replaced(whole, what, by); };
  for (const std::string& text :
       {std::string(), std::string("[]"), whole.substr(0, whole.size() / 2), replaced("objects/1", "objects/2"),
        replaced("\"share\":0.75", "\"share\":1.5"), replaced("\"share\":0.75", "\"share\":null"),
        replaced("\"sampled\":40", "\"sampled\":-4"), replaced("\"sampled\":40", "\"sampled\":18446744073709551615"),
        replaced("\"offset\":16", "\"offset\":99999999999"), replaced("\"neighbour\"", "\"friend\""),
        replaced("\"most_bytes\"", "\"most\""), replaced("\"medium\"", "7"), replaced("\"itself\"", "\"me\"")}) {
    write(kObjectsFile, text);
    EXPECT_THROW(read_sampled_caches(folder_ / kObjectsFile, caches), Error) << text.substr(0, 80);
  }
}

// The first cache in the file is intact, and the second has a damaged number.
TEST_F(InvestigateCopies, DamagedKindsOfObjectsChangeNothing) {
  LargeCache second = sampled_cache();
  second.name = "dentry";
  std::string text = json_sampled_caches({sampled_cache(), second}, {});
  const std::size_t at = text.rfind("\"sampled\":40");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 10, "-");
  write(kObjectsFile, text);
  std::vector<LargeCache> caches(2);
  caches[0].name = "kmalloc-192";
  caches[1].name = "dentry";
  EXPECT_THROW(read_sampled_caches(folder_ / kObjectsFile, caches), Error);
  EXPECT_FALSE(caches[0].kinds || caches[1].kinds);
}

TEST_F(InvestigateCopies, UnknownNumbersOfObjectsStayUnknown) {
  LargeCache cache = sampled_cache();
  cache.kinds->objects.reset();
  cache.kinds->bytes.reset();
  write(kObjectsFile, json_sampled_caches({cache}, {}));
  std::vector<LargeCache> caches(1);
  caches[0].name = cache.name;
  read_sampled_caches(folder_ / kObjectsFile, caches);
  ASSERT_TRUE(caches[0].kinds);
  EXPECT_FALSE(caches[0].kinds->objects || caches[0].kinds->bytes);
}

TEST_F(InvestigateCopies, TooManyKindsOfObjectsAreRefused) {
  LargeCache cache = sampled_cache();
  cache.kinds->kinds.resize(10'001, cache.kinds->kinds.front());
  write(kObjectsFile, json_sampled_caches({cache}, {}));
  std::vector<LargeCache> caches(1);
  caches[0].name = cache.name;
  EXPECT_THROW(read_sampled_caches(folder_ / kObjectsFile, caches), Error);
}

TEST_F(InvestigateCopies, Version1NamesTheMemoryCgroup) {
  write("7/cgroup", "9:name=systemd:/other\n4:cpu,memory:/db/a:b\n0::/\n");
  write("8/cgroup", "0::/system.slice\n");
  EXPECT_EQ(memory_cgroup_of(7, folder_), "/db/a:b");
  EXPECT_EQ(memory_cgroup_of(8, folder_), "");
  EXPECT_EQ(memory_cgroup_of(9, folder_), "");
}

TEST_F(InvestigateCopies, PageTablesOfAProcessAreKnown) {
  write("7/status", "Name:\tVmRSS: 9 kB\nVmRSS:\t    1024 kB\nVmPTE:\t      48 kB\nVmSwap:\t       8 kB\n");
  const ProcessMemory memory = memory_of_process(7, folder_);
  EXPECT_EQ(memory.user_bytes, 1032u << 10);
  EXPECT_EQ(memory.page_table_bytes, 48u << 10);
  EXPECT_EQ(memory_of_process(8, folder_).user_bytes, 0u);
}

}  // namespace
}  // namespace kmt
