// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/slab_matcher.hpp"

#include <gtest/gtest.h>

#include "analysis/matching/freed_by.hpp"

namespace kmt {
namespace {

Event event(EventKind kind, std::uint64_t pointer, std::uint64_t time_ns = 0, unsigned cpu = 0) {
  Event made{};
  made.kind = kind;
  made.address = pointer;
  made.time_ns = time_ns;
  made.cpu = static_cast<std::uint16_t>(cpu);
  made.bytes_allocated = 64;
  return made;
}

TEST(SlabMatcher, DistinguishesEveryKindOfFree) {
  SlabMatcher matcher;
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0)).outcome, FreeOutcome::null);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, kZeroSizePointer)).outcome, FreeOutcome::zero_size);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::allocated_before_trace);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::double_or_untraced);
  EXPECT_FALSE(matcher.allocate(event(EventKind::kmalloc, 0x1000), 5).replaced);
  const auto freed = matcher.release(event(EventKind::kfree, 0x1000));
  EXPECT_EQ(freed.outcome, FreeOutcome::matched);
  EXPECT_EQ(freed.object.origin, 5u);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::double_or_untraced);
}

TEST(SlabMatcher, TheEndOfARcuFreeIsNotASecondFree) {
  SlabMatcher matcher;
  matcher.allocate(event(EventKind::kmalloc, 0x1000), 5);
  EXPECT_EQ(matcher.release(event(EventKind::rcu_free, 0x1000)).outcome, FreeOutcome::matched);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::end_of_rcu_free);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::double_or_untraced);
}

TEST(SlabMatcher, AnAddressFreedByRcuMayBeAllocatedWithoutAnotherFree) {
  SlabMatcher matcher;
  matcher.allocate(event(EventKind::cache_alloc, 0x1000), 5);
  matcher.release(event(EventKind::rcu_free, 0x1000));
  EXPECT_FALSE(matcher.allocate(event(EventKind::cache_alloc, 0x1000), 6).replaced);
  const auto freed = matcher.release(event(EventKind::kfree, 0x1000));
  EXPECT_EQ(freed.outcome, FreeOutcome::matched);
  EXPECT_EQ(freed.object.origin, 6u);
}

TEST(SlabMatcher, BulkAndRcuFreesAcceptObjectsOfAnyFamily) {
  for (const bool from_cache : {false, true})
    for (const EventKind kind : {EventKind::bulk_free, EventKind::rcu_free})
      EXPECT_FALSE(freed_by_wrong_family(from_cache, event(kind, 0x1000), false));
}

TEST(SlabMatcher, OnlySlabHasZeroSizePointers) {
  SlabMatcher matcher;
  matcher.allocate(event(EventKind::percpu_alloc, kZeroSizePointer), 5);
  EXPECT_EQ(matcher.release(event(EventKind::percpu_free, kZeroSizePointer)).outcome, FreeOutcome::matched);
}

TEST(SlabMatcher, AllocationOnALivePointerReplacesIt) {
  SlabMatcher matcher;
  EXPECT_FALSE(matcher.allocate(event(EventKind::kmalloc, 0x40), 3).replaced);
  const auto replaced = matcher.allocate(event(EventKind::cache_alloc, 0x40), 4);
  EXPECT_TRUE(replaced.replaced);
  EXPECT_EQ(replaced.object.origin, 3u);
  const auto freed = matcher.release(event(EventKind::kfree, 0x40));
  EXPECT_EQ(freed.object.origin, 4u);
  EXPECT_TRUE(freed.object.from_cache());
}

TEST(SlabMatcher, RemembersTheCallSiteOfTheFreeBefore) {
  SlabMatcher matcher;
  Event first = event(EventKind::kfree, 0x40, 10);
  first.call_site = {7};
  matcher.release(first);
  const auto again = matcher.release(event(EventKind::kfree, 0x40, 20));
  EXPECT_EQ(again.outcome, FreeOutcome::double_or_untraced);
  EXPECT_EQ(again.object.origin, 7u);
  EXPECT_EQ(again.object.time_ns, 10u);
}

// Memory use must be proportional to the number of live objects. The oldest freed addresses are forgotten, but live
// ones never are.
TEST(SlabMatcher, ForgetsTheOldestFrees) {
  SlabMatcher matcher;
  constexpr std::uint64_t kMany = 4 * SlabMatcher::kRememberedFrees;
  matcher.allocate(event(EventKind::kmalloc, 64, 0), 9);
  for (std::uint64_t i = 2; i < kMany; ++i) matcher.release(event(EventKind::kfree, i * 64, i));
  EXPECT_EQ(matcher.release(event(EventKind::kfree, (kMany - 1) * 64, kMany)).outcome, FreeOutcome::double_or_untraced);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 2 * 64, kMany)).outcome, FreeOutcome::allocated_before_trace);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 64, kMany)).object.origin, 9u);
}

// CPU 0 allocates at time 90, but its clock is ahead and shows 105. CPU 1 frees the object at time 100. In order of the
// recorded times, the events are free, allocate, allocate.
TEST(SlabMatcher, DetectsClocksThatDisagree) {
  SlabMatcher matcher;
  matcher.release(event(EventKind::kfree, 0x80, 100, 1));
  matcher.allocate(event(EventKind::kmalloc, 0x80, 105, 0), 1);
  EXPECT_TRUE(matcher.allocate(event(EventKind::kmalloc, 0x80, 9000, 0), 1).object.free_came_early());

  SlabMatcher same_cpu;
  same_cpu.release(event(EventKind::kfree, 0x80, 100, 0));
  same_cpu.allocate(event(EventKind::kmalloc, 0x80, 105, 0), 1);
  EXPECT_FALSE(same_cpu.allocate(event(EventKind::kmalloc, 0x80, 9000, 0), 1).object.free_came_early());
}

TEST(FreedBy, KfreeOfACacheObjectIsLegalSince6Point4) {
  EXPECT_FALSE(kfree_takes_cache_objects("6.1.0-47-amd64"));
  EXPECT_FALSE(kfree_takes_cache_objects("5.10.0"));
  EXPECT_FALSE(kfree_takes_cache_objects("6.3.13"));
  EXPECT_TRUE(kfree_takes_cache_objects("6.4.0-rc1"));
  EXPECT_TRUE(kfree_takes_cache_objects("7.2.1"));
  EXPECT_TRUE(kfree_takes_cache_objects(""));
  EXPECT_TRUE(kfree_takes_cache_objects("six"));

  EXPECT_TRUE(freed_by_wrong_family(true, event(EventKind::kfree, 1), false));
  EXPECT_FALSE(freed_by_wrong_family(true, event(EventKind::kfree, 1), true));
  EXPECT_FALSE(freed_by_wrong_family(true, event(EventKind::cache_free, 1), false));
  EXPECT_TRUE(freed_by_wrong_family(false, event(EventKind::cache_free, 1), true));
}

}  // namespace
}  // namespace kmt
