// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/large_caches.hpp"

#include <gtest/gtest.h>

#include "analysis/growth/census_change.hpp"
#include "results/snapshot/page_census.hpp"
#include "views/common/conclusion.hpp"
#include "views/json/investigation.hpp"
#include "views/text/investigation.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class LargeCaches : public ::testing::Test {
 protected:
  LargeCaches() {
    snapshot.total = 10'000 * kMiB;
    judgement.saw_caches = true;
  }
  void add(const std::string& name, std::uint64_t bytes) {
    SlabCacheUse& cache = snapshot.caches.emplace_back();
    cache.name = name;
    cache.bytes = bytes;
  }
  void add_check(HealthTopic topic, Health health) {
    HealthCheck& check = snapshot.health.emplace_back();
    check.topic = topic;
    check.health = health;
  }
  StateGrowth& add_growth(const std::string& name, double bytes_per_s) {
    StateGrowth& state = judgement.states.emplace_back();
    state.name = name;
    state.cache = state.sure = state.above = true;
    state.trend.growth = Growth::steady;
    state.trend.bytes_per_s = bytes_per_s;
    return state;
  }
  std::string names() const {
    std::string names;
    for (const LargeCache& cache : large_caches(snapshot, judgement))
      names += cache.name + " " + std::string(id_of(cache.growth)) + "; ";
    return names;
  }
  SnapshotResult snapshot;
  Judgement judgement;
};

TEST_F(LargeCaches, HoldATwentiethOfTheMemory) {
  add("kmalloc-192", 500 * kMiB);
  add("kmalloc-96", 499 * kMiB);
  EXPECT_EQ(names(), "kmalloc-192 none; ");
}

TEST_F(LargeCaches, AreUnreclaimable) {
  add("dentry", 5000 * kMiB);
  add("kmalloc-rcl-96", 5000 * kMiB);
  EXPECT_EQ(names(), "");
}

TEST_F(LargeCaches, AreNoneOnASmallMachine) {
  snapshot.total = 200 * kMiB;
  add("kmalloc-192", 63 * kMiB);
  EXPECT_EQ(names(), "");
}

TEST_F(LargeCaches, HoldATenthOfUnhealthySlabs) {
  add("kmalloc-192", 450 * kMiB);
  add("filp", 400 * kMiB);
  add("kmalloc-64", 90 * kMiB);
  EXPECT_EQ(names(), "");
  add_check(HealthTopic::unreclaimable_slab, Health::unknown);
  EXPECT_EQ(names(), "");
  add_check(HealthTopic::kmalloc, Health::warn);
  EXPECT_EQ(names(), "kmalloc-192 none; filp none; ");
}

TEST_F(LargeCaches, AreAtMostThree) {
  for (const char* const name : {"a", "b", "c", "d"}) add(name, 600 * kMiB + snapshot.caches.size());
  add("small", kMiB);
  add_growth("small", 100);
  EXPECT_EQ(names(), "d none; c none; small unexplained; ");
}

// The sum of all kmalloc caches of a size has the name of one of them.
TEST_F(LargeCaches, AreThoseOfTheSizeThatGrow) {
  add("kmalloc-192", kMiB);
  add("kmalloc-cg-192", kMiB);
  add_growth("kmalloc-192", 1000).kind = "kmalloc-cg-192";
  EXPECT_EQ(names(), "kmalloc-cg-192 unexplained; ");
}

TEST_F(LargeCaches, IncludeUnexplainedGrowth) {
  add("kmalloc-1k", kMiB);
  StateGrowth& state = add_growth("kmalloc-1k", 1000);
  EXPECT_EQ(names(), "kmalloc-1k unexplained; ");
  state.untested_site = "f+0x1";
  EXPECT_EQ(large_caches(snapshot, judgement)[0].untested_site, "f+0x1");
  state.explained_bytes_per_s = 600;
  EXPECT_EQ(names(), "");
  snapshot.caches[0].bytes = 1000 * kMiB;
  EXPECT_EQ(names(), "kmalloc-1k explained; ");
  state.sure = false;
  EXPECT_EQ(names(), "kmalloc-1k unknown; ");
  judgement.saw_caches = false;
  judgement.states.clear();
  EXPECT_EQ(names(), "kmalloc-1k unknown; ");
}

InvestigationResult with_large_cache() {
  InvestigationResult result;
  LargeCache cache{"kmalloc-192", 600 * kMiB, 0.06, CacheGrowth::none, CacheKinds{}};
  cache.kinds->cache = "kmalloc-192";
  cache.kinds->object_size = 192;
  cache.kinds->knows_all_slots = true;
  SlabKind& kind = cache.kinds->kinds.emplace_back();
  kind.symbol = "session_ops";
  kind.module = "leaky";
  kind.module_source = ModuleSource::symbols;
  kind.structure = {"session", Confidence::medium};
  kind.share = 0.99;
  kind.bytes = 594 * kMiB;
  kind.addresses = {0xffff'8880'0001'0000};
  result.large_caches.push_back(std::move(cache));
  return result;
}

TEST(LargeCacheWords, NameKindAndModule) {
  const InvestigationResult result = with_large_cache();
  EXPECT_EQ(words_of(result.large_caches[0]),
            "Large slab cache that does not grow: kmalloc-192, 600.0 MiB, 6.0% of memory. 99% of its objects, "
            "594.0 MiB, are session_ops (struct session) of module leaky.");
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("Objects in large slab caches"), std::string::npos) << text;
  EXPECT_NE(text.find("drgn   Object(prog, \"struct session *\", 0xffff888000010000)[0]\n"), std::string::npos) << text;
  EXPECT_NE(text.find("crash  struct session ffff888000010000\n"), std::string::npos) << text;
  EXPECT_NE(json_investigation(result).find("\"kind\": \"session_ops\""), std::string::npos);
}

TEST(LargeCacheWords, NameTheCallSiteThatIsNotTested) {
  LargeCache cache{"skbuff_head_cache", 3 * kMiB, 0.001, CacheGrowth::unexplained, {}};
  EXPECT_EQ(words_of(cache),
            "Growing slab cache without a known call site: skbuff_head_cache, 3.0 MiB, 0.1% of memory.");
  cache.untested_site = "__alloc_skb+0x147";
  EXPECT_EQ(words_of(cache),
            "Growing slab cache without a confirmed call site: skbuff_head_cache, 3.0 MiB, 0.1% of memory. Most of its "
            "new objects are from __alloc_skb+0x147, which is not judged: the kernel may free them on paths without a "
            "tracepoint.");
}

TEST(LargeCacheWords, StayWithoutASample) {
  InvestigationResult result = with_large_cache();
  result.large_caches[0].kinds.reset();
  EXPECT_EQ(words_of(result.large_caches[0]),
            "Large slab cache that does not grow: kmalloc-192, 600.0 MiB, 6.0% of memory.");
  EXPECT_EQ(text_investigation(result, {}).find("Objects in large"), std::string::npos);
}

TEST(CensusChanges, AreSortedByGrowth) {
  PageCensus before;
  before.pages[index_of(PageKind::other)] = 20;
  before.blocks[index_of(PageKind::other)][0] = 12;
  before.blocks[index_of(PageKind::other)][3] = 1;
  before.other_flags = {{0, 12}, {1ull << 11, 8}};
  PageCensus after = before;
  after.pages[index_of(PageKind::other)] = 36;
  after.pages[index_of(PageKind::unmarked)] = 2048;
  after.blocks[index_of(PageKind::other)][3] = 3;
  after.blocks[index_of(PageKind::unmarked)][0] = 2048;
  after.other_flags = {{0, 2060}, {1ull << 11, 24}};
  CgroupPages cgroup;
  cgroup.path = "/job";
  cgroup.pages[index_of(PageKind::other)] = 16;
  after.cgroups = {cgroup};
  InvestigationResult result;
  result.census = census_change(before, after, 4096);
  EXPECT_EQ(result.census->before, 20u * 4096);
  EXPECT_EQ(result.census->after, 2084u * 4096);
  ASSERT_EQ(result.census->orders.size(), 2u);
  EXPECT_EQ(result.census->orders[0].name, "0");
  EXPECT_EQ(result.census->orders[0].after, 2060u * 4096);
  EXPECT_EQ(result.census->orders[1].name, "3");
  EXPECT_EQ(result.census->orders[1].after - result.census->orders[1].before, 16u * 4096);
  ASSERT_EQ(result.census->flags.size(), 2u);
  EXPECT_EQ(result.census->flags[0].name, "none");
  ASSERT_EQ(result.census->cgroups.size(), 1u);
  EXPECT_EQ(result.census->cgroups[0].name, "/job");
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("8.1 MiB, from 80.0 KiB to 8.1 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("0: +8.0 MiB; 3: +64.0 KiB"), std::string::npos) << text;
  EXPECT_NE(text.find("/job: +64.0 KiB"), std::string::npos) << text;
  result.census->after = result.census->before + kMiB;
  EXPECT_EQ(text_investigation(result, {}).find("Kernel pages that"), std::string::npos) << "usual changes";
}

}  // namespace
}  // namespace kmt
