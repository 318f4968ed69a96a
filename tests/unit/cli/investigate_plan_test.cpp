// SPDX-License-Identifier: GPL-2.0-or-later
// Tests that an investigation stays within its CPU budget, whatever the load of the machine.
#include "cli/investigate/plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "cli/investigate/states.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {
namespace {

constexpr double kTurn = 0.25;  // seconds between two readings of the event count

// CPU time in seconds that an event, or a step of an investigation, needs on a busy x86-64 machine. Measured with 2.3
// million events, half of them stacks.
constexpr double kOfAnEvent = 1.0e-6;
constexpr double kOfReading = 0.26e-6;
constexpr double kOfAnalysing = 0.82e-6;
constexpr double kOfAState = 2.5e-3;
constexpr double kOfTheBegin = 0.15;  // everything before the recording, except reading the kernel's counters
constexpr double kOfARecording = 0.33;
constexpr double kOfTheEnd = 0.3;

struct Watched {
  double cpu_seconds = 0;
  double recorded_seconds = 0;
};

// Returns the CPU time of the whole investigation, and the seconds of a recording that starts now.
Watched record_from(CpuUse use, const InvestigationPlan& plan, double events_per_s) {
  use.cpu_seconds += kOfARecording / 2;
  use.stacks = true;
  use.is_recording = true;
  use.events_per_s = events_per_s;
  double next_state = use.seconds;
  double recorded = 0;
  while (use.seconds < plan.seconds && cpu_left(use, plan) >= 0) {
    use.seconds += kTurn;
    recorded += kTurn;
    use.events += static_cast<std::uint64_t>(events_per_s * kTurn);
    use.cpu_seconds += events_per_s * kTurn * (kOfAnEvent + kOfReading);
    for (; next_state < use.seconds; next_state += next_state_after(next_state, plan)) use.cpu_seconds += kOfAState;
  }
  const double states_left = cpu_of_states(use.seconds, plan) * kOfAState / 3e-3;
  return {
      use.cpu_seconds + kOfARecording / 2 + states_left + kOfTheEnd + static_cast<double>(use.events) * kOfAnalysing,
      recorded};
}

// Returns an investigation without samples. It starts to record when it has compared the first readings of the
// counters.
Watched watch(const InvestigationPlan& plan, double events_per_s) {
  CpuUse use;
  use.seconds = 0.45 * plan.seconds;
  use.cpu_seconds = kOfTheBegin + (cpu_of_states(0, plan) - cpu_of_states(use.seconds, plan)) * kOfAState / 3e-3;
  return record_from(use, plan, events_per_s);
}

InvestigationPlan plan_of(double seconds, double share) {
  LiveInvestigation request;
  request.seconds = seconds;
  request.cpu_share = share;
  InvestigationPlan plan;
  plan.seconds = seconds;
  plan.state_interval = seconds / 60;
  plan.most_cpu_seconds = most_cpu_seconds(request);
  return plan;
}

TEST(InvestigationPlan, StaysWithinTheBudgetForAnyRecording) {
  for (const double seconds : {15.0, 40.0, 120.0, 600.0})
    for (const double share : {0.01, 0.1})
      for (const double rate : {1e3, 2e4, 1e5, 3e5, 1e6}) {
        const InvestigationPlan plan = plan_of(seconds, share);
        EXPECT_LE(watch(plan, rate).cpu_seconds, plan.most_cpu_seconds) << seconds << " s, " << rate << " a second";
      }
}

TEST(InvestigationPlan, RecordsCheapEventsUntilTheEnd) {
  EXPECT_GE(watch(plan_of(40, 0.01), 5e3).recorded_seconds, 0.54 * 40);
  EXPECT_GT(watch(plan_of(40, 0.01), 1e5).recorded_seconds, 4);
  EXPECT_LT(watch(plan_of(40, 0.01), 1e6).recorded_seconds, 2);
}

InvestigationPlan plan_with_samples(double seconds) {
  InvestigationPlan plan = plan_of(seconds, 0.01);
  plan.samples = plan.trace = true;
  plan.most_cpu_seconds = std::max(0.02 * seconds, 3 * kFixedSeconds);  // 1 % of two CPUs
  plan.least_cpu_seconds = kFixedSeconds + cpu_of_states(0, plan);
  return plan;
}

// Returns the time after which the samples have used their share of the budget. If they use less, returns the whole
// time.
double seconds_of_samples(const InvestigationPlan& plan, double programs_per_s, CpuUse& use) {
  use.cpu_seconds = kFixedSeconds - kSecondsAtTheEnd;
  for (; use.seconds < plan.seconds && !is_part_of_samples_spent(use, plan); use.seconds += kTurn)
    use.cpu_seconds += kTurn * programs_per_s + (cpu_of_states(0, plan) / plan.seconds) * kTurn;
  return use.seconds;
}

TEST(InvestigationPlan, OnABusyMachineSamplesLeaveBudgetForARecording) {
  // The CPU time per second of the BPF programs while eight compilers run, and higher values.
  for (const double seconds : {40.0, 120.0, 600.0})
    for (const double programs_per_s : {0.02, 0.035, 0.05}) {
      const InvestigationPlan plan = plan_with_samples(seconds);
      CpuUse use;
      const double sampled = seconds_of_samples(plan, programs_per_s, use);
      EXPECT_GE(sampled, kThresholds.shortest_watch) << seconds << " s, " << programs_per_s;
      const double recorded_per_s = whole_seconds_of_an_event(false) * 3000;
      const double recorded = (cpu_left(use, plan) - kSecondsToRecord) / recorded_per_s;
      EXPECT_GE(recorded, 2 * kThresholds.shortest_recording * seconds) << seconds << " s, " << programs_per_s;
      for (const double events_per_s : {1e3, 2e4, 3e5})
        EXPECT_LE(record_from(use, plan, events_per_s).cpu_seconds, plan.most_cpu_seconds)
            << seconds << " s, " << programs_per_s << ", " << events_per_s << " a second";
    }
}

TEST(InvestigationPlan, OnAnIdleMachineSamplingContinues) {
  CpuUse use;
  EXPECT_EQ(seconds_of_samples(plan_with_samples(120), 0.002, use), 120);
  InvestigationPlan without_trace = plan_with_samples(120);
  without_trace.trace = false;  // no budget is reserved for a recording
  EXPECT_EQ(seconds_of_samples(without_trace, 0.05, use = {}), 120);
}

TEST(InvestigationPlan, PagesAreSampledIfTheBudgetLastsLongEnough) {
  const InvestigationPlan plan = plan_with_samples(120);
  EXPECT_TRUE(can_sample_pages(0.05, 1.4, plan));
  EXPECT_FALSE(can_sample_pages(0.1, 1.4, plan));
  EXPECT_TRUE(can_sample_pages(0.1, 1.4, plan_with_samples(15)));
  EXPECT_FALSE(can_sample_pages(0.1, -1, plan_with_samples(15)));
}

TEST(InvestigationPlan, RecordsEventsThatFitTheBudget) {
  Narrowing wanted;
  wanted.caches = {"filp"};
  wanted.sizes = {1024};
  wanted.orders = {0, 2};
  // Seconds of CPU time: 1 for caches, 2 for sizes, 4 for pages.
  const auto needed = [](const Narrowing& of) {
    return (of.caches.empty() ? 0.0 : 1.0) + (of.sizes.empty() ? 0.0 : 2.0) + (of.orders.empty() ? 0.0 : 4.0);
  };
  const RecordingChoice all = choose_recording(wanted, 7, 7, needed);
  // Single pages (order 0) are not recorded, because they have too many events.
  EXPECT_EQ(all.rest.orders, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(all.of.orders, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(all.of.sizes, (std::vector<std::uint64_t>{1024}));
  EXPECT_FALSE(all.ends_samples);
  const RecordingChoice slabs = choose_recording(wanted, 5, 5, needed);
  EXPECT_TRUE(slabs.of.orders.empty());
  EXPECT_EQ(slabs.of.sizes, (std::vector<std::uint64_t>{1024}));
  const RecordingChoice caches = choose_recording(wanted, 1.5, 1.5, needed);
  EXPECT_EQ(caches.of.caches, (std::vector<std::string>{"filp"}));
  EXPECT_TRUE(caches.of.sizes.empty());
  const RecordingChoice without_samples = choose_recording(wanted, 0.5, 5, needed);
  EXPECT_TRUE(without_samples.ends_samples);
  EXPECT_EQ(without_samples.of.sizes, (std::vector<std::uint64_t>{1024}));
  EXPECT_TRUE(choose_recording(wanted, 0.5, 0.5, needed).of.empty());
  // If one cache is too busy to be recorded, the others must still be recorded.
  Narrowing busy;
  busy.caches = {"filp", "UDP", "TCP"};
  const auto by_caches = [](const Narrowing& of) {
    double seconds = 0;
    for (const std::string& cache : of.caches) seconds += cache == "filp" ? 9 : 1;
    return seconds;
  };
  EXPECT_EQ(choose_recording(busy, 2, 2, by_caches).of.caches, (std::vector<std::string>{"UDP", "TCP"}));
  EXPECT_FALSE(choose_recording(busy, 2, 20, by_caches).ends_samples);
  Narrowing single;
  single.orders = {0};
  EXPECT_TRUE(choose_recording(single, 9, 9, needed).rest.empty());
}

TEST(InvestigationPlan, FreedPagesAreCountedByVmstat) {
  const auto state = [](std::uint64_t seconds, const char* vmstat) {
    return StateSample{seconds * 1'000'000'000, 0, {{"vmstat", vmstat}}};
  };
  EXPECT_EQ(page_frees_per_s({state(1, "pgalloc_dma 3\npgfree 100\n"), state(3, "pgfree 500\n")}), 200);
  EXPECT_EQ(page_frees_per_s({state(1, "pgfree 100\n"), state(3, "")}), 0);
  EXPECT_EQ(page_frees_per_s({}), 0);
}

TEST(UnseenSlabinfo, DistinguishesMissingFromUnreadable) {
  EXPECT_FALSE(unseen_slabinfo("/proc/self/stat"));
  const auto missing = unseen_slabinfo("/proc/self/no-such-file");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->why, "/proc/self/no-such-file cannot be read: No such file or directory");
  EXPECT_EQ(missing->how, "use a kernel with CONFIG_SLUB_DEBUG");
  const auto broken = unseen_slabinfo("/proc/self/stat/below");
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->how, "");
}

}  // namespace
}  // namespace kmt
