// SPDX-License-Identifier: GPL-2.0-or-later
// Sampling by bytes, with the code that runs in the kernel, and what is estimated of the samples.
#include "analysis/heap_profile.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "capture/bpf/log2_table.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "function" + std::to_string(address); }
};

std::string cgroup_text(std::uint64_t id) { return "cgroup " + std::to_string(id); }

// As heap.bpf.c does it.
class Sampler {
 public:
  Sampler(std::uint64_t mean, unsigned seed) : mean_(mean), random_(seed) {}

  bool draws(std::uint64_t bytes) {
    if (left_ == 0) left_ = next();
    if (bytes < left_) {
      left_ -= bytes;
      return false;
    }
    left_ = next();
    return true;
  }

 private:
  std::uint64_t next() {
    return kmt_bytes_to_next_sample(static_cast<std::uint32_t>(random_()), mean_, table_.data()) + 1;
  }

  std::uint64_t mean_;
  std::uint64_t left_ = 0;
  std::mt19937 random_;
  std::array<std::uint32_t, KMT_LOG2_STEPS + 1> table_ = log2_table();
};

TEST(Poisson, DistancesAreExponentiallyDistributed) {
  const auto table = log2_table();
  std::mt19937 random(1);
  constexpr std::uint64_t kMean = 1 << 20;
  constexpr int kDraws = 1'000'000;
  double sum = 0;
  int beyond_mean = 0;
  int within_tenth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const auto distance =
        static_cast<double>(kmt_bytes_to_next_sample(static_cast<std::uint32_t>(random()), kMean, table.data()));
    sum += distance / kMean;
    if (distance > kMean) ++beyond_mean;
    if (distance < 0.1 * kMean) ++within_tenth;
  }
  // Each within four standard deviations.
  EXPECT_NEAR(sum / kDraws, 1, 4 / std::sqrt(kDraws));
  EXPECT_NEAR(beyond_mean / double{kDraws}, std::exp(-1), 4 * 0.48 / std::sqrt(kDraws));
  EXPECT_NEAR(within_tenth / double{kDraws}, 1 - std::exp(-0.1), 4 * 0.29 / std::sqrt(kDraws));
}

TEST(Poisson, FollowsTheLogarithmClosely) {
  const auto table = log2_table();
  constexpr std::uint64_t kMean = 1ull << 30;
  for (const std::uint32_t u : {1u, 3u, 255u, 65537u, 0x10000001u, 0x7fffffffu, 0x80000001u, 0xffffffffu}) {
    const double exact = -std::log(u / 4294967296.0) * kMean;
    EXPECT_NEAR(static_cast<double>(kmt_bytes_to_next_sample(u, kMean, table.data())), exact, 1e-5 * kMean) << u;
  }
}

HeapSample sample_of(std::uint64_t pointer, std::uint64_t bytes) {
  HeapSample sample;
  sample.pointer = pointer;
  sample.requested = bytes - bytes / 4;
  sample.allocated = bytes;
  sample.call_site = 7;
  sample.followed = true;
  sample.comm = "test";
  return sample;
}

struct Truth {
  double objects = 0, bytes = 0, live_objects = 0, live_bytes = 0;
};

bool covers(const Estimate& estimate, double truth) { return estimate.low <= truth && truth <= estimate.high; }

// Of 1000 profiles of the same load, whose intervals should hold the truth in 95 %: four standard deviations of such a
// count are 2.8 %. The rate is such that there are from a handful to hundreds of samples. How many objects there are is
// known less well from a handful: the smallest, which are most of them, may be missing in it.
void expect_coverage(std::uint64_t mean, int allocations, const std::vector<std::uint64_t>& sizes, int least_objects) {
  constexpr int kProfiles = 1000;
  int objects = 0, bytes = 0, live_objects = 0, live_bytes = 0;
  double sum = 0;
  double true_sum = 0;
  const NoNames names;
  for (int run = 0; run < kProfiles; ++run) {
    Sampler sampler(mean, static_cast<unsigned>(run) + 1);
    std::mt19937 load(99);
    HeapProfile profile(mean, names, cgroup_text);
    Truth truth;
    for (int i = 1; i <= allocations; ++i) {
      const std::uint64_t size = sizes[load() % sizes.size()];
      const bool lives = load() % 3 == 0;
      const auto pointer = static_cast<std::uint64_t>(i) * 4096;
      truth.objects += 1;
      truth.bytes += static_cast<double>(size);
      if (lives) truth.live_objects += 1, truth.live_bytes += static_cast<double>(size);
      if (!sampler.draws(size)) continue;
      profile.add(sample_of(pointer, size));
      if (!lives) profile.end({pointer, 0, false});
    }
    const HeapFigures found = profile.result({HeapKey::call_site}).slab;
    objects += covers(found.objects, truth.objects);
    bytes += covers(found.bytes, truth.bytes);
    live_objects += covers(found.live_objects, truth.live_objects);
    live_bytes += covers(found.live_bytes, truth.live_bytes);
    sum += found.bytes.value;
    true_sum += truth.bytes;
  }
  EXPECT_GE(bytes, 922);
  EXPECT_GE(live_bytes, 922);
  EXPECT_GE(objects, least_objects);
  EXPECT_GE(live_objects, least_objects);
  EXPECT_NEAR(sum / true_sum, 1, 0.02);
}

TEST(HeapProfile, IntervalsHoldTheTruthOfManySamples) { expect_coverage(4096, 3000, {64, 192, 1024, 4096}, 922); }
TEST(HeapProfile, IntervalsHoldTheTruthOfFewSamples) { expect_coverage(65536, 2000, {64, 192, 1024}, 700); }
TEST(HeapProfile, IntervalsHoldTheTruthOfLargeAndSmall) { expect_coverage(16384, 1500, {96, 256, 65536}, 880); }

TEST(HeapProfile, WhatIsAlwaysDrawnIsExact) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  for (std::uint64_t i = 1; i <= 100; ++i) profile.add(sample_of(i, 4096));
  profile.end({5, 0, false});
  const HeapFigures slab = profile.result({HeapKey::call_site}).slab;
  EXPECT_DOUBLE_EQ(slab.objects.value, 100);
  EXPECT_DOUBLE_EQ(slab.bytes.low, 409600);
  EXPECT_NEAR(slab.bytes.high, 409600, 5);
  EXPECT_DOUBLE_EQ(slab.requested.value, 307200);
  EXPECT_DOUBLE_EQ(slab.live_bytes.value, 99 * 4096);
}

TEST(HeapProfile, KeepsWhatLivesAcrossIntervals) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  profile.add(sample_of(1, 4096));
  HeapSample other = sample_of(2, 8192);
  other.comm = "other";
  profile.add(other);
  profile.end({1, 0, false});
  profile.begin_interval();
  profile.add(sample_of(3, 4096));
  const HeapProfileResult result = profile.result({HeapKey::process});
  EXPECT_DOUBLE_EQ(result.slab.bytes.value, 4096);        // of this interval
  EXPECT_DOUBLE_EQ(result.slab.live_bytes.value, 12288);  // of both
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].keys[0], "other");
  EXPECT_DOUBLE_EQ(result.rows[0].figures.live_bytes.value, 8192);
  EXPECT_EQ(result.rows[0].figures.samples, 0u);
}

TEST(HeapProfile, SaysWhatWasReplacedAndTakesOutWhatIsGone) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  for (std::uint64_t i = 1; i <= 4; ++i) profile.add(sample_of(i, 4096));
  profile.end({1, 0, true});
  profile.end({77, 0, true});  // was never told
  profile.reconcile([](std::uint64_t pointer) { return pointer != 2; });
  const HeapProfileResult result = profile.result({HeapKey::call_site});
  EXPECT_EQ(result.replaced, 1u);
  EXPECT_EQ(result.slab.live_samples, 2u);
}

TEST(HeapProfile, LeavesTheFramesOfTheTracingOut) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      constexpr const char* kNames[] = {"0x0", "bpf_trace_run5+0x1", "__alloc_pages_noprof+0x2", "pipe_write+0x3"};
      return kNames[address];
    }
  };
  const Names names;
  HeapProfile profile(1, names, cgroup_text);
  HeapSample sample = sample_of(1, 4096);
  const std::uint64_t stack[] = {0, 1, 2, 3};
  sample.stack = stack;
  sample.pages = true;
  sample.call_site = 0;
  profile.add(sample);
  const HeapProfileResult result = profile.result({HeapKey::call_site});
  EXPECT_EQ(result.stacks.at(0).stack, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(result.rows.at(0).keys.at(0), "pipe_write+0x3");
  EXPECT_EQ(result.pages.samples, 1u);
}

}  // namespace
}  // namespace kmt
