// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which cause is named if a cache starts to grow during the investigation. The cause is the task with the largest
// share of the growth from then on.
#include <algorithm>
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "analysis/growth/investigation.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {
namespace {

constexpr double kSeconds = 120;
constexpr double kBegin = 70;
constexpr double kRate = 90'000;  // bytes per second
constexpr double kStepSeconds = 0.5;

// Judges a cache that grows from kBegin on. `takers` tasks have equal shares of its samples.
Judgement judgement_of(unsigned takers) {
  InvestigationEvidence evidence;
  evidence.seconds = kSeconds;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  MemorySeries& cache = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "key_jar", {}});
  for (std::uint64_t i = 0; i <= 60; ++i)
    cache.points.push_back({i * 2'000'000'000, 1e6 + kRate * std::max(2 * static_cast<double>(i) - kBegin, 0.0)});
  GrowthSeen& seen = evidence.samples.emplace();
  seen.step_seconds = kStepSeconds;
  seen.steps = static_cast<std::size_t>(kSeconds / kStepSeconds);
  seen.mean_bytes = 32 << 10;
  for (unsigned taker = 0; taker < takers; ++taker) {
    GrowthGroup& group = seen.groups.emplace_back();
    group.stack = {"key_alloc+0x1", "__x64_sys_add_key+0x2"};
    group.cache = "key_jar";
    group.task = "taker" + std::to_string(taker);
    group.process = 7 + taker;
    for (std::size_t i = 1; i <= seen.steps; ++i)
      group.live.push_back(kRate / takers * std::max(static_cast<double>(i) * kStepSeconds - kBegin, 0.0));
    group.bytes = group.live.back();
    group.objects = group.bytes / 256;
    group.seen = 100;
  }
  return judge(evidence);
}

std::size_t named(const Judgement& judgement) {
  return static_cast<std::size_t>(std::ranges::count(judgement.findings, Certainty::sure, &GrowthFinding::certainty));
}

TEST(LateGrowth, NamesTheTaskWithTheLargestShareSinceTheStart) {
  const Judgement one = judgement_of(1);
  ASSERT_TRUE(one.states.front().late);
  EXPECT_TRUE(one.states.front().late->sure);
  ASSERT_EQ(named(one), 1u);
  EXPECT_EQ(one.findings.front().processes.front().process, 7u);
  EXPECT_EQ(named(judgement_of(2)), 2u);  // each task has half of the growth
  EXPECT_EQ(named(judgement_of(3)), 0u);
}

}  // namespace
}  // namespace kmt
