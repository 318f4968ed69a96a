// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the conditions of `record --trigger`.
#include "cli/record/trigger.hpp"

#include <cstdlib>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Returns SUnreclaim in bytes, every ten seconds, of a machine that compiled programs and ran virtual machines.
std::vector<std::uint64_t> recorded_load() {
  const std::string text = read_file(std::getenv("KMEMTRACE_DATA") + std::string("/growth/sunreclaim.txt"));
  std::vector<std::uint64_t> values;
  for (const std::string_view line : split(text, '\n'))
    if (const auto kib = parse_leading<std::uint64_t>(line)) values.push_back(*kib << 10);
  return values;
}

// Gives the values of a recorded load to a trigger, without waiting. The values are used forwards and backwards in
// turn, so they have no jumps. After `plant_s`, memory also grows by `bytes_per_s`. Returns the time in seconds at
// which the condition is true.
std::optional<std::uint64_t> time_of_trigger(const std::vector<std::uint64_t>& load, std::uint64_t seconds,
                                             std::uint64_t plant_s, std::uint64_t bytes_per_s) {
  std::uint64_t now_s = 0;
  Trigger trigger("SUnreclaim+8M/10m", [&](const std::string&) {
    const std::size_t last = load.size() - 1;
    const std::size_t at = now_s / 10 % (2 * last);
    const std::uint64_t grown = now_s > plant_s ? (now_s - plant_s) * bytes_per_s : 0;
    return ProcValue{load[at <= last ? at : 2 * last - at] + grown, true};
  });
  trigger.start_again();
  for (; now_s < seconds; ++now_s)
    if (trigger.holds((now_s + 1) * kSecond)) return now_s;
  return std::nullopt;
}

TEST(TriggerCondition, OomWaitsForAKill) {
  Trigger trigger("oom");
  EXPECT_TRUE(trigger.waits_for_oom());
  EXPECT_FALSE(trigger.wants_failures());
  EXPECT_EQ(trigger.what_happened(), "the OOM killer killed a process");
}

TEST(TriggerCondition, OnlyTheWordMeansAKill) {
  Trigger counter("oom_kill+0");
  EXPECT_FALSE(counter.waits_for_oom());
  EXPECT_FALSE(counter.wants_failures());
  EXPECT_NE(counter.what_happened(), "the OOM killer killed a process");
  Trigger failure("failure");
  EXPECT_FALSE(failure.waits_for_oom());
  EXPECT_TRUE(failure.wants_failures());
  for (const char* const word : {"OOM", "oom ", "oom+1", "ooms", ""}) EXPECT_THROW(Trigger{word}, Error) << word;
}

TEST(TriggerCondition, TwentyHoursOfRecordedLoadStartNothing) {
  const std::vector<std::uint64_t> load = recorded_load();
  ASSERT_GT(load.size(), 200u);
  EXPECT_EQ(time_of_trigger(load, 20 * 3600, UINT64_MAX, 0), std::nullopt);
}

TEST(TriggerCondition, GrowthUnderRecordedLoadIsSeenInTime) {
  const std::vector<std::uint64_t> load = recorded_load();
  std::mt19937_64 random(33);  // NOLINT(bugprone-random-generator-seed)
  for (int run = 0; run < 20; ++run) {
    const std::uint64_t plant_s = 700 + random() % 36'000;
    const auto found = time_of_trigger(load, 20 * 3600, plant_s, 20 << 10);
    ASSERT_TRUE(found) << plant_s;
    EXPECT_GT(*found, plant_s);
    EXPECT_LT(*found, plant_s + 600) << "20 KiB per second are 12 MiB in ten minutes";
  }
}

// The kernel counts a kill before the event oom:mark_victim.
TEST(TriggerCondition, AKillCountsAtTheNextLook) {
  std::uint64_t kills = 3;
  Trigger trigger("oom", [&](const std::string&) { return ProcValue{kills, false}; });
  trigger.start();
  std::uint64_t now = 0;
  const auto look = [&] { return trigger.holds(now += 100'000'000); };
  EXPECT_FALSE(look());
  ++kills;
  EXPECT_FALSE(look());
  EXPECT_TRUE(look());
  trigger.start_again();
  EXPECT_FALSE(look());
  EXPECT_FALSE(look());
}

}  // namespace
}  // namespace kmt
