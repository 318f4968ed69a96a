// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slab_matcher.hpp"

#include <gtest/gtest.h>

#include "analysis/freed_by.hpp"

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

TEST(SlabMatcher, TellsEveryKindOfFree) {
  SlabMatcher matcher;
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0)).outcome, FreeOutcome::null);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, kZeroSizePointer)).outcome, FreeOutcome::zero_size);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::allocated_before_trace);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::double_or_untraced);
  EXPECT_FALSE(matcher.allocate(event(EventKind::kmalloc, 0x1000), true).replaced);
  const auto freed = matcher.release(event(EventKind::kfree, 0x1000));
  EXPECT_EQ(freed.outcome, FreeOutcome::matched);
  EXPECT_EQ(freed.object.bytes_allocated, 64u);
  EXPECT_EQ(matcher.release(event(EventKind::kfree, 0x1000)).outcome, FreeOutcome::double_or_untraced);
}

TEST(SlabMatcher, OnlySlabHasAPointerForNothing) {
  SlabMatcher matcher;
  matcher.allocate(event(EventKind::percpu_alloc, kZeroSizePointer), true);
  EXPECT_EQ(matcher.release(event(EventKind::percpu_free, kZeroSizePointer)).outcome, FreeOutcome::matched);
}

TEST(SlabMatcher, AllocationOnALivePointerReplacesIt) {
  SlabMatcher matcher;
  Event first = event(EventKind::kmalloc, 0x40);
  first.call_site = {3};
  EXPECT_FALSE(matcher.allocate(first, true).replaced);
  Event second = event(EventKind::cache_alloc, 0x40);
  second.call_site = {4};
  const auto replaced = matcher.allocate(second, false);
  EXPECT_TRUE(replaced.replaced);
  EXPECT_EQ(replaced.object.call_site.value, 3u);
  EXPECT_TRUE(replaced.object.selected);
  const auto freed = matcher.release(event(EventKind::kfree, 0x40));
  EXPECT_EQ(freed.object.call_site.value, 4u);
  EXPECT_FALSE(freed.object.selected);
  EXPECT_TRUE(freed.object.from_cache);
}

// CPU 1 frees at 100 what CPU 0 allocated at 90 by its own, fast clock, which says 105: seen as free, allocate,
// allocate.
TEST(SlabMatcher, SeesTheSignOfClocksThatDisagree) {
  SlabMatcher matcher;
  matcher.release(event(EventKind::kfree, 0x80, 100, 1));
  matcher.allocate(event(EventKind::kmalloc, 0x80, 105, 0), true);
  EXPECT_TRUE(matcher.allocate(event(EventKind::kmalloc, 0x80, 9000, 0), true).object.free_came_early);

  SlabMatcher same_cpu;
  same_cpu.release(event(EventKind::kfree, 0x80, 100, 0));
  same_cpu.allocate(event(EventKind::kmalloc, 0x80, 105, 0), true);
  EXPECT_FALSE(same_cpu.allocate(event(EventKind::kmalloc, 0x80, 9000, 0), true).object.free_came_early);
}

TEST(FreedBy, KfreeOfACacheObjectIsLegalSince6Point4) {
  EXPECT_FALSE(kfree_takes_cache_objects("6.1.0-47-amd64"));
  EXPECT_FALSE(kfree_takes_cache_objects("5.10.0"));
  EXPECT_FALSE(kfree_takes_cache_objects("6.3.13"));
  EXPECT_TRUE(kfree_takes_cache_objects("6.4.0-rc1"));
  EXPECT_TRUE(kfree_takes_cache_objects("7.2.1"));
  EXPECT_TRUE(kfree_takes_cache_objects(""));
  EXPECT_TRUE(kfree_takes_cache_objects("six"));

  SlabObject object{};
  object.from_cache = true;
  EXPECT_TRUE(freed_by_wrong_family(object, event(EventKind::kfree, 1), false));
  EXPECT_FALSE(freed_by_wrong_family(object, event(EventKind::kfree, 1), true));
  EXPECT_FALSE(freed_by_wrong_family(object, event(EventKind::cache_free, 1), false));
  object.from_cache = false;
  EXPECT_TRUE(freed_by_wrong_family(object, event(EventKind::cache_free, 1), true));
}

}  // namespace
}  // namespace kmt
