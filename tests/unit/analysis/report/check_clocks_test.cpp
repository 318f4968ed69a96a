// SPDX-License-Identifier: GPL-2.0-or-later
// Tests what `check` finds out about the clocks of a trace.
#include <gtest/gtest.h>

#include "analysis/report/check.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

struct Moment {
  std::uint64_t time_ns;
  std::uint16_t cpu = 0;
  std::uint8_t context = 0;
  std::int32_t tid = 7;
};

std::uint64_t found(Imperfection kind, TraceInfo info, const std::vector<Moment>& moments) {
  info.tables.event_types = {{"sched", "sched_switch"}};
  CheckAnalysis check(info);
  EventBatch batch;
  for (const Moment& moment : moments) {
    Event& event = batch.emplace_back();
    event.time_ns = moment.time_ns;
    event.cpu = moment.cpu;
    event.context = moment.context;
    event.tid = moment.tid;
  }
  check.add(batch);
  return check.finish().findings.count_of(kind);
}

TraceInfo of_kernel(const std::string& release) {
  TraceInfo info;
  info.machine.kernel = release;
  info.format = "trace.dat version 6";
  return info;
}

TEST(CheckClocks, NestedEventsWithTheTimeOfTheOuterEvent) {
  const std::vector<Moment> nested = {{100}, {100, 0, Context::kHardIrq}, {100, 0, Context::kNmi}, {200}};
  EXPECT_EQ(found(Imperfection::nested_times, of_kernel("4.19.0-27-amd64"), nested), 2u);
  EXPECT_EQ(found(Imperfection::nested_times, of_kernel("5.8.0"), nested), 2u);
  EXPECT_EQ(found(Imperfection::nested_times, of_kernel("5.9.0"), nested), 0u);
  EXPECT_EQ(found(Imperfection::nested_times, of_kernel("4.19.0"), {{100}, {100}, {101, 0, Context::kHardIrq}}), 0u);
  EXPECT_EQ(found(Imperfection::nested_times, of_kernel("4.19.0"), {{100}, {100, 1, Context::kHardIrq}}), 0u)
      << "on another CPU";

  TraceInfo kmt = of_kernel("4.19.0");
  kmt.format = "kmt version 1";
  EXPECT_EQ(found(Imperfection::nested_times, kmt, nested), 2u) << "converted";
  kmt.recording.notes["recorder"] = "kmemtrace 1.0";
  EXPECT_EQ(found(Imperfection::nested_times, kmt, nested), 2u);
  kmt.recording.notes["recorder"] = "lttng-modules 2.10.1";
  EXPECT_EQ(found(Imperfection::nested_times, kmt, nested), 0u) << "the event is in a separate buffer";
}

TEST(CheckClocks, AnEventAfterTheEndOfTheRecording) {
  TraceInfo info;
  info.losses.buffers.resize(1);
  info.losses.buffers[0].counted_ns = 100 * kSecond;
  EXPECT_EQ(found(Imperfection::clock_jumps, info, {{99 * kSecond}, {105 * kSecond}}), 0u);
  EXPECT_EQ(found(Imperfection::clock_jumps, info, {{99 * kSecond}, {900 * kSecond}}), 1u);
  EXPECT_EQ(found(Imperfection::clock_jumps, info, {{900 * kSecond, 1}}), 0u)
      << "the jump is not reported for that CPU";
}

TEST(CheckClocks, AClockThatIsFasterThanTheWallClock) {
  const auto jumps = [](std::uint64_t ticks, std::uint64_t unix_ns) {
    TraceInfo info;
    info.recording.samples = {
        {100 * kSecond, 5000 * kSecond, {}}, {101 * kSecond, 5001 * kSecond, {}}, {ticks, unix_ns, {}}};
    return found(Imperfection::clock_jumps, info, {{100 * kSecond}});
  };
  EXPECT_EQ(jumps(102 * kSecond, 5002 * kSecond), 0u);
  EXPECT_EQ(jumps(110 * kSecond, 5002 * kSecond), 0u) << "small corrections of the wall clock are normal";
  EXPECT_EQ(jumps(3702 * kSecond, 5002 * kSecond), 1u);
  EXPECT_EQ(jumps(10'101 * kSecond, 14'900 * kSecond), 0u) << "one percent of hours";
  EXPECT_EQ(jumps(102 * kSecond, 8000 * kSecond), 0u) << "the clock stood still";
  EXPECT_EQ(jumps(3702 * kSecond, 4000 * kSecond), 0u) << "the wall clock was set back";
}

// Text traces contain no times except those of events, so only a long time without events shows that a clock jumped.
TEST(CheckClocks, ALongTimeWithoutEvents) {
  const auto jumps = [](TraceInfo info, std::uint64_t silent_ns, std::int32_t idle = 0) {
    std::vector<Moment> moments;
    for (std::uint64_t at = 0; at < kSecond; at += kSecond / 1000) {
      moments.push_back({100 * kSecond + at, 0, 0, idle});
      moments.push_back({100 * kSecond + at + 1000, 1, 0, 7});
    }
    const std::size_t before = moments.size();
    for (std::size_t i = 0; i < before; ++i) {
      moments.push_back(moments[i]);
      moments.back().time_ns += kSecond + silent_ns;
    }
    return found(Imperfection::clock_jumps, std::move(info), moments);
  };
  EXPECT_EQ(jumps({}, 3600 * kSecond), 1u);
  EXPECT_EQ(jumps({}, 5 * kSecond), 0u);
  EXPECT_EQ(jumps({}, 3600 * kSecond, 8), 0u) << "the recorded tasks may have slept";
  TraceInfo named;
  named.tasks.comms[8] = "kworker/0:1";
  EXPECT_EQ(jumps(named, 3600 * kSecond, 8), 1u);
  TraceInfo lossy;
  lossy.losses.intervals.push_back({0, 7, 100 * kSecond, 3000 * kSecond});
  EXPECT_EQ(jumps(lossy, 3600 * kSecond), 0u) << "there were events";
  TraceInfo suspended;
  suspended.findings.add({Imperfection::suspended, "for 3600.000 s", {}, {}, {}});
  EXPECT_EQ(jumps(suspended, 3600 * kSecond), 0u);
  const std::vector<Moment> bursts = {{1, 0, 0, 0}, {20 * kSecond, 0, 0, 0}, {50 * kSecond, 0, 0, 0}};
  EXPECT_EQ(found(Imperfection::clock_jumps, {}, bursts), 0u) << "few events are expected";
}

TEST(CheckClocks, TheWallClockWasSet) {
  const auto jumps = [](const char* clock, const char* set_ns, std::uint64_t unix_ns) {
    TraceInfo info;
    info.clock.name = clock;
    if (*set_ns != '\0') info.recording.notes["wall_clock_set_ns"] = set_ns;
    info.recording.samples = {{100 * kSecond, 5000 * kSecond, {}}, {160 * kSecond, unix_ns, {}}};
    return found(Imperfection::clock_jumps, info, {{100 * kSecond}});
  };
  EXPECT_EQ(jumps("tai", "3600000000000", 5060 * kSecond), 1u);
  EXPECT_EQ(jumps("tai", "-3600000000000", 5060 * kSecond), 1u);
  EXPECT_EQ(jumps("mono", "3600000000000", 8660 * kSecond), 0u) << "another clock";
  EXPECT_EQ(jumps("mono", "-40000000000", 5020 * kSecond), 0u) << "the wall clock jumped, not the trace's";
  EXPECT_EQ(jumps("mono", "", 5020 * kSecond), 1u);
}

// A text trace has no list of the tasks that existed at its start.
TEST(CheckClocks, ATaskWithEventsBeforeItsCreation) {
  TraceInfo info;
  info.tasks.lives.born({300, 5 * kSecond, 10, true});
  const auto at = [](std::uint64_t time_ns) { return std::vector<Moment>{{time_ns, 1, 0, 300}}; };
  EXPECT_EQ(found(Imperfection::clocks_apart, info, at(5 * kSecond + 1)), 0u);
  EXPECT_EQ(found(Imperfection::clocks_apart, info, at(5 * kSecond - 1000)), 1u);
  EXPECT_EQ(found(Imperfection::clocks_apart, info, at(4 * kSecond)), 0u) << "an earlier task had the id";
  EXPECT_EQ(found(Imperfection::clocks_apart, info, {{5 * kSecond - 1000, 1, Context::kSoftIrq, 300}}), 0u);
  info.tasks.lives.known(300, {300, 1, 0, ""}, TaskLives::Noted::at_begin);
  EXPECT_EQ(found(Imperfection::clocks_apart, info, at(5 * kSecond - 1000)), 0u);
}

TEST(CheckClocks, CreationAtTheTimeOfTheFirstEventIsValid) {
  for (const std::uint64_t later_ns : {0u, 1000u}) {
    TraceInfo info;
    info.tables.event_types = {{"sched", "sched_switch"}};
    CheckAnalysis check(info);
    EventBatch batch(1);
    batch[0].time_ns = 5 * kSecond;
    batch[0].tid = 300;
    check.add(batch);
    info.tasks.lives.born({300, 5 * kSecond + later_ns, 10, true});  // an event of a CPU that is read later
    EXPECT_EQ(check.finish().findings.count_of(Imperfection::clocks_apart), later_ns == 0 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace kmt
