// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which events a recording selects, depending on samples and the kernel's counters.
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/growth/investigation.hpp"
#include "analysis/growth/narrowing.hpp"
#include "results/series/thresholds.hpp"
#include "support/investigation_evidence.hpp"

namespace kmt::planted {
namespace {

TEST(Narrowing, SelectsGrowingMemory) {
  InvestigationEvidence evidence = evidence_with_noise(5);
  evidence.samples->groups.clear();
  evidence.trace.reset();
  EXPECT_TRUE(narrow(evidence).caches.empty());
  evidence.samples->groups.push_back(group_of(kPipe, "kmalloc-1k", "leaky", 4321, steady));
  evidence.samples->groups.push_back(group_of(kPipeFile, "filp", "leaky", 4321, steady));
  const Narrowing narrowing = narrow(evidence);
  EXPECT_EQ(narrowing.caches, std::vector<std::string>{"filp"});
  EXPECT_EQ(narrowing.sizes, std::vector<std::uint64_t>{1024});
  EXPECT_FALSE(narrowing.pages);
  EXPECT_TRUE(narrowing.has("kmalloc-1k"));
  EXPECT_FALSE(narrowing.has("pages of order 1"));
  evidence.samples->groups = {group_of(kPipe, "pages of order 1", "leaky", 4321, steady)};
  const Narrowing of_pages = narrow(evidence);
  EXPECT_EQ(of_pages.orders, std::vector<std::uint64_t>{1});
  EXPECT_FALSE(of_pages.pages);
  EXPECT_TRUE(of_pages.has("pages of order 1"));
  EXPECT_FALSE(of_pages.has("pages of order 2"));
}

// Caches that tracing itself uses grow and shrink with any recording. If no other cache grows, nothing is recorded.
TEST(Narrowing, CachesUsedByTracingAreNotRecordedAlone) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  evidence.states.push_back(cache_series("ftrace_event_field", steady));
  EXPECT_TRUE(narrow(evidence).empty());
  evidence.states.push_back(cache_series("key_jar", steady));
  EXPECT_TRUE(narrow(evidence).has("key_jar"));
}

// Growth that starts late does not show as a trend of the whole time.
TEST(Narrowing, LateGrowthIsRecorded) {
  InvestigationEvidence evidence = evidence_with_noise(5);
  evidence.samples->groups.clear();
  evidence.trace.reset();
  evidence.states.push_back(
      cache_series("TCP", [](double seconds) { return kRate * std::max(seconds - 0.6 * kSeconds, 0.0); }));
  EXPECT_EQ(narrow(evidence).caches, std::vector<std::string>{"TCP"});
}

TEST(Narrowing, CountersAloneAreEnough) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  evidence.states.push_back(cache_series("kmalloc-rnd-03-512", steady));
  evidence.states.push_back(cache_series("kmalloc-part-03-1k", steady));
  evidence.states.push_back(cache_series("kmalloc-no-objext-256", steady));
  evidence.states.push_back(cache_series("dentry", steady));
  evidence.states.push_back(cache_series("vmap_area", steady));  // vmalloc areas that were freed but not yet purged
  MemorySeries unaccounted = cache_series(std::string(kUnaccounted), steady);
  unaccounted.source = MemorySource::meminfo;
  evidence.states.push_back(unaccounted);
  const Narrowing narrowing = narrow(evidence);
  std::vector<std::uint64_t> sizes = narrowing.sizes;
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{256, 512, 1024}));
  EXPECT_TRUE(narrowing.caches.empty());
  EXPECT_TRUE(narrowing.pages);
  const Judgement judgement = judge(evidence);
  EXPECT_TRUE(judgement.findings.empty());
  EXPECT_TRUE(std::ranges::any_of(judgement.states,
                                  [](const StateGrowth& one) { return one.name == "kmalloc-512" && one.sure; }));
  for (const char* const cache : {"dentry", "vmap_area"})
    EXPECT_TRUE(std::ranges::any_of(judgement.states,
                                    [cache](const StateGrowth& one) { return one.name == cache && !one.sure; }));
}

}  // namespace
}  // namespace kmt::planted
