// SPDX-License-Identifier: GPL-2.0-or-later
// Tests sampling by bytes, with the code that runs in the kernel. Also tests the estimates computed from the samples.
#include "analysis/heap/profile.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "capture/bpf/watch/log2_table.hpp"

namespace kmt {
namespace {

class NoNames : public SymbolNames {
 public:
  std::string name(std::uint64_t address) const override { return "function" + std::to_string(address); }
};

std::string cgroup_text(std::uint64_t id) { return "cgroup " + std::to_string(id); }

class Sampler {
 public:
  Sampler(std::uint64_t mean, unsigned seed) : mean_(mean), random_(seed) {}

  bool draws(std::uint64_t bytes) {
    const auto random = [](void* state) { return static_cast<unsigned>((*static_cast<std::mt19937*>(state))()); };
    return kmt_is_sampled(&sampler_, bytes, mean_, table_.data(), random, &random_) != 0;
  }

 private:
  std::uint64_t mean_;
  kmt_sampler sampler_{};
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
  // The tolerance of each value is four standard deviations.
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

  void add(std::uint64_t size, bool lives) {
    objects += 1;
    bytes += static_cast<double>(size);
    if (lives) live_objects += 1, live_bytes += static_cast<double>(size);
  }
};

bool covers(const Estimate& estimate, double truth) { return estimate.low <= truth && truth <= estimate.high; }

// Profiles one load 1000 times. The confidence intervals should contain the true value in 95 % of the runs; the
// tolerance of 2.8 % is four standard deviations of such a count. Depending on the rate, a profile has between a few
// and hundreds of samples. If there are few, the number of objects is less certain, because the smallest and most
// frequent objects may not be sampled.
void expect_coverage(std::uint64_t mean, int allocations, const std::vector<std::uint64_t>& sizes, int least_objects) {
  constexpr int kProfiles = 1000;
  int objects = 0, bytes = 0, live_objects = 0, live_bytes = 0;
  int rows = 0, row_bytes = 0, row_live_bytes = 0;
  double sum = 0;
  double true_sum = 0;
  const NoNames names;
  for (int run = 0; run < kProfiles; ++run) {
    Sampler sampler(mean, static_cast<unsigned>(run) + 1);
    std::mt19937 load(99);
    HeapProfile profile(mean, names, cgroup_text);
    Truth truth;
    Truth row_truth;  // truth for one call site, which makes every fifth allocation and keeps few objects live
    for (int i = 1; i <= allocations; ++i) {
      const std::uint64_t size = sizes[load() % sizes.size()];
      const bool is_of_row = i % 5 == 0;
      const bool lives = load() % (is_of_row ? 30 : 3) == 0;
      const auto pointer = static_cast<std::uint64_t>(i) * 4096;
      truth.add(size, lives);
      if (is_of_row) row_truth.add(size, lives);
      if (!sampler.draws(size)) continue;
      HeapSample sample = sample_of(pointer, size);
      if (is_of_row) sample.call_site = 8;
      profile.add(sample);
      if (!lives) profile.end({pointer, 0});
    }
    const HeapProfileResult result = profile.result({HeapKey::call_site});
    const HeapFigures& found = result.slab;
    for (const HeapRow& row : result.rows) {
      if (row.keys[0] != "function8") continue;
      ++rows;
      row_bytes += covers(row.figures.bytes, row_truth.bytes);
      row_live_bytes += covers(row.figures.live_bytes, row_truth.live_bytes);
    }
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
  ASSERT_GE(rows, kProfiles / 2);
  EXPECT_GE(row_bytes, rows * 92 / 100);
  EXPECT_GE(row_live_bytes, rows * 92 / 100);
}

TEST(HeapProfile, IntervalsAreRightForManySamples) { expect_coverage(4096, 3000, {64, 192, 1024, 4096}, 922); }
TEST(HeapProfile, IntervalsAreRightForFewSamples) { expect_coverage(65536, 2000, {64, 192, 1024}, 700); }
TEST(HeapProfile, IntervalsAreRightForMixedSizes) { expect_coverage(16384, 1500, {96, 256, 65536}, 880); }

TEST(HeapProfile, ValuesFromAFileStayInRange) {
  const NoNames names;
  HeapProfile profile(kMostMeanBytes, names, cgroup_text);
  DrawnGroup group;
  group.sizes = {{1, 1, ~std::uint64_t{0}, ~std::uint64_t{0}},
                 {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, 1}};
  profile.add(std::move(group));
  const HeapFigures slab = profile.result({HeapKey::call_site}).slab;
  for (const Estimate& estimate : {slab.objects, slab.bytes, slab.live_objects, slab.live_bytes}) {
    EXPECT_LE(estimate.low, estimate.value);
    EXPECT_LE(estimate.value, estimate.high);
    EXPECT_EQ(rounded(estimate.high), 9'200'000'000'000'000'000u);
  }
}

TEST(HeapProfile, AlwaysSampledObjectsAreExact) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  for (std::uint64_t i = 1; i <= 100; ++i) profile.add(sample_of(i, 4096));
  profile.end({5, 0});
  const HeapFigures slab = profile.result({HeapKey::call_site}).slab;
  EXPECT_DOUBLE_EQ(slab.objects.value, 100);
  EXPECT_DOUBLE_EQ(slab.bytes.low, 409600);
  EXPECT_NEAR(slab.bytes.high, 409600, 5);
  EXPECT_DOUBLE_EQ(slab.requested.value, 307200);
  EXPECT_DOUBLE_EQ(slab.live_bytes.value, 99 * 4096);
}

TEST(HeapProfile, KeepsLiveObjectsAcrossIntervals) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  profile.add(sample_of(1, 4096));
  HeapSample other = sample_of(2, 8192);
  other.comm = "other";
  profile.add(other);
  profile.end({1, 0});
  profile.begin_interval();
  profile.add(sample_of(3, 4096));
  const HeapProfileResult result = profile.result({HeapKey::process});
  EXPECT_DOUBLE_EQ(result.slab.bytes.value, 4096);        // samples of this interval only
  EXPECT_DOUBLE_EQ(result.slab.live_bytes.value, 12288);  // samples of both intervals
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0].keys[0], "other-0");
  EXPECT_DOUBLE_EQ(result.rows[0].figures.live_bytes.value, 8192);
  EXPECT_EQ(result.rows[0].figures.samples, 0u);
}

TEST(HeapProfile, InterruptsHaveNoCgroup) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    HeapSample sample = sample_of(i, 4096);
    sample.context = AllocationContext::hardirq;
    sample.process = static_cast<std::uint32_t>(i);  // the process that the interrupt stopped
    sample.cgroup = i;
    profile.add(sample);
  }
  const DrawnProfile drawn = profile.drawn();
  ASSERT_EQ(drawn.groups.size(), 1u);
  EXPECT_EQ(drawn.groups[0].cgroup, 0u);
  EXPECT_EQ(drawn.groups[0].process, 0u);
}

TEST(HeapProfile, CountsReplacedObjectsAndRemovesFreedOnes) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  for (std::uint64_t i = 1; i <= 4; ++i) profile.add(sample_of(i, 4096));
  profile.end({1, 0, true});
  profile.end({77, 0, true});  // no sample had this address
  profile.reconcile([](std::uint64_t pointer) { return pointer != 2; });
  const HeapProfileResult result = profile.result({HeapKey::call_site});
  EXPECT_EQ(result.replaced, 1u);
  EXPECT_EQ(result.slab.live_samples, 2u);
}

TEST(HeapProfile, DuplicateEventsCountOnceForTheSecond) {
  const NoNames names;
  HeapProfile profile(1, names, cgroup_text);
  profile.add(sample_of(1, 16384));
  profile.end({1, 0, false, true});
  HeapSample again = sample_of(1, 16384);
  again.call_site = 8;
  profile.add(again);
  const HeapProfileResult result = profile.result({HeapKey::call_site});
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0].keys[0], "function8");
  EXPECT_EQ(result.slab.samples, 1u);
  EXPECT_DOUBLE_EQ(result.slab.live_bytes.value, 16384);
  EXPECT_EQ(result.replaced, 0u);
}

TEST(HeapProfile, FindsCallersAgainWhenNamesChange) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      if (!loaded && address == 2) return "0x2";
      return address == 1 ? "kmalloc+0x1" : address == 2 ? "kvmalloc_node+0x1 [module]" : "caller+0x1";
    }
    bool loaded = false;
  };
  Names names;
  HeapProfile profile(1, names, cgroup_text);
  HeapSample sample = sample_of(1, 4096);
  const std::uint64_t stack[] = {9, 2, 3};
  sample.stack = stack;
  sample.call_site = 2;
  profile.add(sample);
  EXPECT_EQ(profile.result({HeapKey::caller}).rows.at(0).keys.at(0), "0x2");
  names.loaded = true;
  profile.names_changed();
  EXPECT_EQ(profile.result({HeapKey::caller}).rows.at(0).keys.at(0), "caller+0x1");
}

TEST(HeapProfile, RemovesTracingFrames) {
  class Names : public SymbolNames {
   public:
    std::string name(std::uint64_t address) const override {
      constexpr const char* kNames[] = {
          "0x0", "bpf_trace_run5+0x1", "__alloc_pages_noprof+0x2", "pipe_write+0x3", "bpf_prog_alloc+0x4", "0x5"};
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
  EXPECT_EQ(profile.stacks().at(0).stack, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(result.rows.at(0).keys.at(0), "pipe_write+0x3");
  EXPECT_EQ(result.pages.samples, 1u);

  // Allocations made by BPF programs count too.
  HeapProfile of_bpf(1, names, cgroup_text);
  const std::uint64_t bpf_stack[] = {0, 1, 2, 4, 5, 3};
  sample.stack = bpf_stack;
  of_bpf.add(sample);
  EXPECT_EQ(of_bpf.stacks().at(0).stack, (std::vector<std::uint64_t>{2, 4, 5, 3}));
}

}  // namespace
}  // namespace kmt
