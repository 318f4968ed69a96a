// SPDX-License-Identifier: GPL-2.0-or-later
// Tests growth that is only apparent: objects from before the trace are freed as fast as new objects are allocated.
#include "analysis/report/older_frees.hpp"

#include <gtest/gtest.h>

namespace kmt {
namespace {

TEST(OlderFrees, CountsByCacheAndCallSiteAndThird) {
  TimeBuckets clock(0);
  clock.bucket_of(3'000'000'000);
  OlderFrees frees;
  for (const std::uint64_t time : {100ull, 1'500'000'000ull, 1'600'000'000ull, 2'900'000'000ull}) {
    frees.add(CallSiteId{7}, CacheId{0}, clock.bucket_of(time));
    frees.add(CallSiteId{8}, CacheId{3}, clock.bucket_of(time));
    frees.add(CallSiteId{9}, CacheId{3}, clock.bucket_of(time));
  }
  EXPECT_EQ(frees.of_cache(3, clock), (CountByThird{2, 4, 2}));
  EXPECT_EQ(frees.of_cache(4, clock), CountByThird{});
  const auto sites = frees.sites(clock);
  ASSERT_EQ(sites.size(), 3u);
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    EXPECT_EQ(sites[i].first.value, 7 + i);
    EXPECT_EQ(sites[i].second, (CountByThird{1, 2, 1}));
  }
}

TEST(OlderFrees, KeepPaceOnlyIfTheyDoInEachThird) {
  EXPECT_TRUE(keeps_pace({50, 60, 55}, {100, 100, 100}));
  EXPECT_FALSE(keeps_pace({100, 100, 40}, {100, 100, 100})) << "growth continues at the end";
  EXPECT_FALSE(keeps_pace({0, 0, 0}, {0, 0, 0}));
  EXPECT_TRUE(keeps_pace({100, 100, 20}, {20, 100, 100})) << "each object lives a bit shorter than the trace";
}

TEST(OlderFrees, OfAnotherFunctionNeedASimilarNameAndRate) {
  EXPECT_TRUE(have_same_pace({100, 100, 100}, {90, 110, 120}));
  EXPECT_FALSE(have_same_pace({100, 100, 100}, {90, 110, 200}));
  EXPECT_FALSE(have_same_pace({5, 5, 5}, {5, 5, 5})) << "too few";
  EXPECT_TRUE(have_same_pace({70, 100, 100}, {100, 100, 70})) << "each object lives a bit shorter than the trace";
  EXPECT_FALSE(have_same_pace({70, 100, 100}, {50, 100, 150}));
  EXPECT_TRUE(name_same_thing("alloc_pipe_info+0xd7", "free_pipe_info+0x5c"));
  EXPECT_TRUE(name_same_thing("__alloc_file+0x23", "file_free_rcu+0x2e"));
  EXPECT_TRUE(name_same_thing("__do_sys_timerfd_create+0x5a", "timerfd_release+0x12 [fs]"));
  EXPECT_FALSE(name_same_thing("alloc_pipe_info+0xd7", "kfree_rcu_work+0x1a"));
  EXPECT_FALSE(name_same_thing("key_alloc+0x138", "free_object+0x2"));
}

}  // namespace
}  // namespace kmt
