// SPDX-License-Identifier: GPL-2.0-or-later
// Tests growth over time in hand-made samples.
#include "analysis/growth/samples.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/growth/account.hpp"
#include "analysis/growth/clusters.hpp"
#include "analysis/growth/investigation.hpp"
#include "analysis/growth/narrowing.hpp"
#include "views/common/unseen_sources.hpp"

namespace kmt {
namespace {

class Names : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "function_" + std::to_string(address) + "+0x1"; }
};

TEST(SampleGrowth, FollowsSamplesOverTime) {
  const Names names;
  constexpr std::uint64_t kMean = 1024;
  SampleGrowth growth(kMean, false, names, 1'000'000'000, 64, 99, 4096);
  const std::vector<std::uint64_t> stack = {1, 2};
  HeapSample sample;
  sample.call_site = 1;
  sample.stack = stack;
  sample.kmalloc = true;
  sample.requested = sample.allocated = 64 << 10;  // an object of this size is always sampled
  sample.followed = true;
  sample.process = 5;
  sample.comm = "held";
  for (std::uint64_t i = 0; i < 4; ++i) {
    sample.pointer = 0x1000 + i;
    sample.time_ns = (1 + i) * 1'000'000'000 + 1;
    growth.add(sample);
  }
  sample.process = 99;  // kmemtrace's own process
  sample.pointer = 1;
  growth.add(sample);
  growth.end({0x1000, 3'500'000'000, false, false});
  const GrowthSeen seen = growth.seen(5'100'000'000, "6.18.0", [](std::uint64_t) { return std::string("/a"); });
  ASSERT_EQ(seen.groups.size(), 1u);
  const GrowthGroup& group = seen.groups.front();
  EXPECT_EQ(group.cache, "kmalloc-64k");
  EXPECT_EQ(group.stack, (std::vector<std::string>{"function_1+0x1", "function_2+0x1"}));
  EXPECT_EQ(group.seen, 3u);
  ASSERT_EQ(group.live.size(), 32u);  // each step is an eighth of a second
  EXPECT_NEAR(seen.step_seconds, 0.125, 1e-9);
  const std::vector<double> expected = {1, 2, 2, 3};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(group.live[8 * i + 7], expected[i] * (64 << 10), 1) << i;
}

// The function at address 1 is bpf_mem_refill.
class RefillNames : public Names {
 public:
  std::string name(std::uint64_t address) const override {
    return address == 1 ? "bpf_mem_refill+0x125" : Names::name(address);
  }
};

TEST(SampleGrowth, RefillsOfTheBpfAllocatorCountForTheInterruptedProcess) {
  const RefillNames names;
  SampleGrowth growth(1, false, names, 0, 64, 99, 4096);
  const std::vector<std::uint64_t> refill = {1, 2};
  const std::vector<std::uint64_t> device = {2, 3};
  HeapSample sample;
  sample.context = AllocationContext::hardirq;
  sample.kmalloc = true;
  sample.requested = sample.allocated = 1024;
  sample.followed = true;
  sample.process = 5;
  sample.comm = "loader";
  for (const std::vector<std::uint64_t>* const stack : {&refill, &device}) {
    ++sample.pointer;
    sample.stack = *stack;
    growth.add(sample);
  }
  const GrowthSeen seen = growth.seen(1'000'000'000, "6.18.0", [](std::uint64_t) { return std::string(); });
  ASSERT_EQ(seen.groups.size(), 2u);
  EXPECT_EQ(seen.groups[0].task, "loader");
  EXPECT_EQ(seen.groups[0].process, 5u);
  EXPECT_EQ(seen.groups[1].task, "[hardirq]");
  EXPECT_EQ(seen.groups[1].process, 0u);
}

// If events of frees were lost, reconcile() removes the objects that are no longer live. The removed objects must not
// look like a rise that drops at the end.
TEST(SampleGrowth, LostFreesDoNotAppearAsARise) {
  const Names names;
  SampleGrowth growth(1, false, names, 0, 64, 99, 4096);
  HeapSample sample;
  sample.call_site = 1;
  sample.cache = "filp";
  sample.requested = sample.allocated = 256;
  sample.followed = true;
  for (std::uint64_t i = 0; i < 60; ++i) {
    sample.pointer = 0x1000 + i;
    sample.time_ns = i * 1'000'000'000;
    growth.add(sample);
  }
  growth.reconcile([](std::uint64_t pointer) { return pointer == 0x1000; });
  const GrowthSeen seen = growth.seen(60'500'000'000, "6.18.0", [](std::uint64_t) { return std::string(); });
  ASSERT_EQ(seen.groups.size(), 1u);
  EXPECT_EQ(seen.groups.front().seen, 1u);
  for (const double live : seen.groups.front().live) EXPECT_NEAR(live, 256, 1);
}

// Some frees have no event, as after kfree_rcu(). They are noticed only when the address is allocated again.
TEST(SampleGrowth, IgnoresObjectsWithUntracedFrees) {
  const auto judged = [](unsigned live, unsigned freed, unsigned replaced) {
    const Names names;
    SampleGrowth growth(1, false, names, 0, 64, 99, 4096);
    HeapSample sample;
    sample.call_site = 1;
    sample.kmalloc = true;
    sample.requested = sample.allocated = 96;
    sample.followed = true;
    for (unsigned i = 0; i < live + freed + replaced; ++i) {
      sample.pointer = 0x1000 + i;
      sample.process = 5 + i % 2;  // two processes with the same task name and call site are judged together
      growth.add(sample);
      if (i >= live) growth.end({sample.pointer, 1'000'000'000, i < live + replaced, false});
    }
    const GrowthSeen seen = growth.seen(60'500'000'000, "6.18.0", [](std::uint64_t) { return std::string(); });
    EXPECT_EQ(seen.groups.size(), 2u);
    return std::ranges::all_of(seen.groups, [](const GrowthGroup& group) { return !group.excluded; });
  };
  EXPECT_FALSE(judged(8, 0, 12));
  EXPECT_FALSE(judged(8, 0, 2));
  EXPECT_TRUE(judged(8, 0, 0));
  EXPECT_TRUE(judged(8, 0, 1)) << "one missed free";
  EXPECT_TRUE(judged(40, 0, 2)) << "other objects of this site may be freed untraced";
  EXPECT_TRUE(judged(8, 30, 2)) << "most frees are traced";
}

TEST(SampleGrowth, NamesPagesByTheKernelsPageSize) {
  const Names names;
  for (const std::uint64_t page : {4096u, 65536u}) {
    SampleGrowth growth(1, true, names, 0, 64, 99, page);
    HeapSample sample;
    sample.call_site = 1;
    sample.pages = true;
    sample.requested = sample.allocated = page << 2;
    sample.followed = true;
    growth.add(sample);
    const GrowthSeen seen = growth.seen(2'000'000'000, "6.18.0", [](std::uint64_t) { return std::string(); });
    ASSERT_EQ(seen.groups.size(), 1u);
    EXPECT_EQ(seen.groups.front().cache, "pages of order 2");
  }
}

// Before Linux 6.1, kmem_cache_alloc events contain only the size of an object. An object of 256 bytes from such an
// event must not count as a kmalloc object.
TEST(SampleGrowth, CachesWithoutNamesAreMatchedByObjectSize) {
  const Names names;
  SampleGrowth growth(1024, false, names, 0, 64, 99, 4096);
  HeapSample sample;
  sample.call_site = 1;
  sample.requested = sample.allocated = 64 << 10;
  sample.followed = true;
  for (std::uint64_t i = 0; i < 64; ++i) {
    sample.pointer = 0x1000 + i;
    sample.time_ns = i * 1'000'000'000 + 1;
    growth.add(sample);
  }
  InvestigationEvidence evidence;
  evidence.samples = growth.seen(64'000'000'001, "5.10.0", [](std::uint64_t) { return std::string("/a"); });
  EXPECT_EQ(evidence.samples->groups.front().cache, "objects of 65536 B");
  const Narrowing narrowing = narrow(evidence);
  EXPECT_EQ(narrowing.object_sizes, std::vector<std::uint64_t>{64 << 10});
  EXPECT_TRUE(narrowing.sizes.empty());
  EXPECT_TRUE(narrowing.caches.empty());
  EXPECT_TRUE(narrowing.has("objects of 65536 B"));
  EXPECT_FALSE(narrowing.has("kmalloc-64k"));
}

// Returns growth in which one object is allocated, and not freed, in each step of one second.
GrowthSeen grown_until(std::uint64_t end_ns) {
  static const Names names;
  SampleGrowth growth(1024, false, names, 0, SampleGrowth::kSteps, 99, 4096);
  HeapSample sample;
  sample.call_site = 1;
  sample.requested = sample.allocated = 64 << 10;
  sample.followed = true;
  sample.process = 5;
  sample.comm = "held";
  for (std::uint64_t i = 0; i <= SampleGrowth::kSteps; ++i) {
    sample.pointer = 0x1000 + i;
    sample.time_ns = i * 1'000'000'000 + 500'000'000;
    if (sample.time_ns <= end_ns) growth.add(sample);
  }
  return growth.seen(end_ns, "6.18.0", [](std::uint64_t) { return std::string("/a"); });
}

TEST(SampleGrowth, CountsAllCompleteSteps) {
  for (const std::uint64_t end_ns : {64'000'000'000u, 64'600'000'000u}) {
    const GrowthSeen seen = grown_until(end_ns);
    ASSERT_EQ(seen.steps, SampleGrowth::kSteps);
    const std::vector<double>& live = seen.groups.front().live;
    for (std::size_t i = 0; i < live.size(); ++i) EXPECT_NEAR(live[i], static_cast<double>(i + 1) * (64 << 10), 1) << i;
  }
}

// Samples may end early, for example when the CPU budget is used up. Even the shorter time must have enough steps to
// distinguish growth from chance.
TEST(SampleGrowth, HasEnoughStepsInAShortTime) {
  const GrowthSeen seen = grown_until(9'700'000'000);
  EXPECT_GE(seen.steps, SampleGrowth::kSteps / 2);
  EXPECT_LE(seen.steps, SampleGrowth::kSteps);
  EXPECT_NEAR(seen.seconds(), 9.7, 2 * seen.step_seconds);
  EXPECT_NEAR(seen.groups.front().live.back(), 10 * (64 << 10), 1);
}

TEST(SampleGrowth, ReportsLosses) {
  EXPECT_TRUE(unseen_of({}, 0).empty());
  HeapLosses losses;
  losses.samples = 7;
  losses.unfollowed = 3;
  const auto unseen = unseen_of(losses, 2);
  ASSERT_EQ(unseen.size(), 3u);
  EXPECT_EQ(unseen[0].what, "7 samples");
  EXPECT_EQ(unseen[1].what, "3 samples");
  EXPECT_EQ(unseen[2].what, "2 samples");
}

TEST(SampleGrowth, PageTablesCountIfMemoryDoesNotExplainThem) {
  GrowthSeen seen;
  for (const std::uint32_t process : {7u, 8u}) {
    GrowthGroup& group = seen.groups.emplace_back();
    group.cache = kPageTables;
    group.process = process;
    group.excluded = true;
  }
  seen.groups.push_back(seen.groups.front());
  seen.groups.back().cache = "pages of order 0";  // user memory
  include_page_tables([](std::uint32_t process) { return process == 7; }, seen);
  EXPECT_FALSE(seen.groups[0].excluded);
  EXPECT_TRUE(seen.groups[1].excluded);
  EXPECT_TRUE(seen.groups[2].excluded);
  EXPECT_FALSE(is_slab_cache(std::string(kPageTables)));
  EXPECT_EQ(account_of(std::string(kPageTables)), "PageTables");
}

}  // namespace
}  // namespace kmt
