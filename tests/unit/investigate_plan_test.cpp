// SPDX-License-Identifier: GPL-2.0-or-later
// Whether an investigation keeps to the CPU time that it may take, whatever goes on.
#include "cli/investigate_plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/conclusion.hpp"
#include "analysis/investigation.hpp"

namespace kmt {
namespace {

constexpr double kTurn = 0.25;  // seconds, from one number of events to the next

// What these took on x86-64 beside other work, in seconds of CPU time: 2.3 million events, half of them stacks.
constexpr double kOfAnEvent = 1.0e-6;
constexpr double kOfReading = 0.26e-6;
constexpr double kOfAnalysing = 0.82e-6;
constexpr double kOfAState = 2.5e-3;
constexpr double kOfTheBegin = 0.15;  // until something is recorded, without states
constexpr double kOfARecording = 0.33;
constexpr double kOfTheEnd = 0.3;

struct Watched {
  double cpu_seconds = 0;
  double recorded_seconds = 0;
};

// A watch without samples that records from its first look on.
Watched watch(const InvestigationPlan& plan, double events_per_s) {
  CpuUse use;
  use.stacks = true;
  use.seconds = 0.45 * plan.seconds;
  use.cpu_seconds = kOfTheBegin + (cpu_of_states(0, plan) - cpu_of_states(use.seconds, plan)) * kOfAState / 3e-3;
  use.cpu_seconds += kOfARecording / 2;
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

TEST(InvestigationPlan, TakesNoMoreThanItMayWhateverIsRecorded) {
  for (const double seconds : {15.0, 40.0, 120.0, 600.0})
    for (const double share : {0.01, 0.1})
      for (const double rate : {1e3, 2e4, 1e5, 3e5, 1e6}) {
        const InvestigationPlan plan = plan_of(seconds, share);
        EXPECT_LE(watch(plan, rate).cpu_seconds, plan.most_cpu_seconds) << seconds << " s, " << rate << " a second";
      }
}

TEST(InvestigationPlan, RecordsUntilTheEndWhatCostsLittle) {
  EXPECT_GE(watch(plan_of(40, 0.01), 5e3).recorded_seconds, 0.54 * 40);
  EXPECT_GT(watch(plan_of(40, 0.01), 1e5).recorded_seconds, 4);
  EXPECT_LT(watch(plan_of(40, 0.01), 1e6).recorded_seconds, 2);
}

InvestigationPlan plan_with_samples(double seconds) {
  InvestigationPlan plan = plan_of(seconds, 0.01);
  plan.samples = plan.trace = true;
  plan.most_cpu_seconds = std::max(0.02 * seconds, 3 * kFixedSeconds);  // of two CPUs
  plan.least_cpu_seconds = kFixedSeconds + cpu_of_states(0, plan);
  return plan;
}

// How long samples take until they have spent their part; the time where they do not.
double seconds_of_samples(const InvestigationPlan& plan, double programs_per_s, CpuUse& use) {
  use.cpu_seconds = kFixedSeconds - kSecondsAtTheEnd;
  for (; use.seconds < plan.seconds && !is_part_of_samples_spent(use, plan); use.seconds += kTurn)
    use.cpu_seconds += kTurn * programs_per_s + (cpu_of_states(0, plan) / plan.seconds) * kTurn;
  return use.seconds;
}

TEST(InvestigationPlan, OnABusyMachineSamplesLeaveRoomForARecording) {
  // What programs took a second where eight compilers ran, and more.
  for (const double seconds : {40.0, 120.0, 600.0})
    for (const double programs_per_s : {0.02, 0.035, 0.05}) {
      const InvestigationPlan plan = plan_with_samples(seconds);
      CpuUse use;
      const double sampled = seconds_of_samples(plan, programs_per_s, use);
      EXPECT_GE(sampled, kShortestToTell) << seconds << " s, " << programs_per_s;
      const double recorded_per_s = whole_seconds_of_an_event(false) * 3000;
      const double recorded = (cpu_left(use, plan) - kSecondsToRecord) / recorded_per_s;
      EXPECT_GE(recorded, 2 * kShortestRecording * seconds) << seconds << " s, " << programs_per_s;
      EXPECT_LE(use.cpu_seconds + kSecondsToRecord + kSecondsAtTheEnd + recorded * recorded_per_s,
                plan.most_cpu_seconds + 1e-6);
    }
}

TEST(InvestigationPlan, OnAnIdleMachineSamplesGoOn) {
  CpuUse use;
  EXPECT_EQ(seconds_of_samples(plan_with_samples(120), 0.002, use), 120);
  InvestigationPlan without_trace = plan_with_samples(120);
  without_trace.trace = false;  // then nothing is kept for it
  EXPECT_EQ(seconds_of_samples(without_trace, 0.05, use = {}), 120);
}

TEST(InvestigationPlan, PagesAreSampledWhereThatLastsLongEnough) {
  const InvestigationPlan plan = plan_with_samples(120);
  EXPECT_TRUE(can_sample_pages(0.05, 1.4, plan));
  EXPECT_FALSE(can_sample_pages(0.1, 1.4, plan));
  EXPECT_TRUE(can_sample_pages(0.1, 1.4, plan_with_samples(15)));
  EXPECT_FALSE(can_sample_pages(0.1, -1, plan_with_samples(15)));
}

TEST(UnseenSlabinfo, TellsWhatIsMissingFromWhatIsRefused) {
  EXPECT_FALSE(unseen_slabinfo("/proc/self/stat"));
  const auto missing = unseen_slabinfo("/proc/self/no-such-file");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->why, "/proc/self/no-such-file cannot be read: No such file or directory");
  EXPECT_EQ(missing->how, "it takes a kernel with CONFIG_SLUB_DEBUG");
  const auto broken = unseen_slabinfo("/proc/self/stat/below");
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->how, "");
}

}  // namespace
}  // namespace kmt
