// SPDX-License-Identifier: GPL-2.0-or-later
// Tests conclusions from incomplete data: samples that ended early, counters that were rarely read, and caches without
// copied counters.
#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "analysis/growth/states.hpp"
#include "analysis/series/trend.hpp"
#include "results/series/thresholds.hpp"
#include "support/investigation_evidence.hpp"
#include "views/common/next_commands.hpp"
#include "views/text/investigation.hpp"

namespace kmt {
namespace {

constexpr double kRate = 200'000;  // bytes per second

MemorySeries series(MemorySource source, const std::string& name, std::size_t states) {
  MemorySeries series{source, name, {}};
  for (std::size_t i = 0; i < states; ++i)
    series.points.push_back({i * 500'000'000, 4'000'000 + kRate / 2 * static_cast<double>(i)});
  return series;
}

GrowthSeen steadily(std::size_t steps, const std::string& cache) {
  GrowthSeen seen;
  seen.step_seconds = 0.25;
  seen.steps = steps;
  GrowthGroup& group = seen.groups.emplace_back();
  group.stack = {"alloc_pipe_info+0x52", "create_pipe_files+0x44", "__x64_sys_pipe2+0x14"};
  group.cache = cache;
  group.task = "leaky";
  group.process = 7;
  for (std::size_t i = 1; i <= steps; ++i) group.live.push_back(kRate * 0.25 * static_cast<double>(i));
  group.bytes = group.live.back();
  group.objects = group.bytes / 1024;
  group.seen = steps;
  return seen;
}

InvestigationResult judged(const InvestigationEvidence& evidence, double seconds) {
  InvestigationResult result;
  result.seconds = seconds;
  result.watched = true;
  result.judgement = judge(evidence);
  return result;
}

TEST(Conclusion, StatesThatSamplesEndedTooEarly) {
  InvestigationEvidence evidence;
  evidence.seconds = 40;
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 80));
  const planted::Concluded unseen = planted::concluded(judged(evidence, 40));
  EXPECT_EQ(unseen.verdict, GrowthVerdict::grows);
  EXPECT_NE(unseen.words.find("allocations could not be traced"), std::string::npos) << unseen.words;
  evidence.samples = steadily(8, "filp");
  const planted::Concluded ended = planted::concluded(judged(evidence, 40));
  EXPECT_EQ(ended.words.find("could not be traced"), std::string::npos) << ended.words;
  EXPECT_NE(ended.words.find("allocations were followed for 2.0 s of 40.0 s, which is too short"), std::string::npos)
      << ended.words;
}

// Returns a counter that grows by 90 KB/s from `begin` (in seconds) on, with random noise. It has a value every 2 s for
// two minutes.
MemorySeries rising_since(double begin, double noise, unsigned seed) {
  MemorySeries series{MemorySource::slabinfo_objects, "kmalloc-1k", {}};
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (std::uint64_t i = 0; i <= 60; ++i)
    series.points.push_back({i * 2'000'000'000, 1'000'000 + noise * normal(random) +
                                                    90'000 * std::max(2 * static_cast<double>(i) - begin, 0.0)});
  return series;
}

InvestigationEvidence followed_until(double seconds) {
  InvestigationEvidence evidence;
  evidence.seconds = 120;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  evidence.samples = steadily(static_cast<std::size_t>(seconds / 0.25), "filp");
  evidence.samples->groups.clear();
  return evidence;
}

TEST(Conclusion, FindsGrowthThatStartedLate) {
  for (const double begin : {50.0, 60.0, 75.0}) {
    InvestigationEvidence evidence = followed_until(43);
    evidence.states.push_back(rising_since(begin, 2'000, 3));
    const InvestigationResult result = judged(evidence, 120);
    const planted::Concluded conclusion = planted::concluded(result);
    EXPECT_EQ(conclusion.verdict, GrowthVerdict::grows) << begin << ": " << conclusion.words;
    ASSERT_TRUE(result.judgement.states.front().late) << begin;
    EXPECT_NEAR(result.judgement.states.front().late->since_seconds, begin, 5);
    EXPECT_NEAR(result.judgement.states.front().late->bytes_per_s, 90'000, 3'000);
  }
  // The growth starts so late that no test can confirm it.
  InvestigationEvidence evidence = followed_until(43);
  evidence.states.push_back(rising_since(100, 2'000, 3));
  const planted::Concluded unsure = planted::concluded(judged(evidence, 120));
  EXPECT_EQ(unsure.verdict, GrowthVerdict::cannot_tell) << unsure.words;
  EXPECT_NE(unsure.words.find("after 43 s, when allocations were no longer followed"), std::string::npos)
      << unsure.words;
  evidence = followed_until(63);
  evidence.states.push_back(rising_since(120, 2'000, 3));
  EXPECT_EQ(conclude(judged(evidence, 120)).verdict, GrowthVerdict::no_growth);
}

TEST(Conclusion, CannotTellIfLessThanHalfOfTheTimeWasCovered) {
  InvestigationEvidence evidence = followed_until(43);
  evidence.states.push_back(rising_since(120, 2'000, 3));
  InvestigationResult result = judged(evidence, 120);
  const planted::Concluded brief = planted::concluded(result);
  EXPECT_EQ(brief.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(brief.words.find("allocations were followed for only 43.0 s of 120.0 s (36%)"), std::string::npos)
      << brief.words;
  EXPECT_NE(brief.words.find("--cpu 20"), std::string::npos) << brief.words;
  // A recording after the samples adds to the covered time. The gap between samples and recording does not.
  evidence.trace = steadily(80, "filp");
  evidence.trace->groups.clear();
  evidence.trace_begin_seconds = 80;
  result = judged(evidence, 120);
  EXPECT_EQ(conclude(result).verdict, GrowthVerdict::no_growth);
  EXPECT_NEAR(conclude(result).coverage.covered_seconds, 63, .1);
  // After Ctrl+C, most of the requested time is missing.
  result.requested_seconds = 300;
  result.complete = false;
  result.cut_short = "it was interrupted";
  const planted::Concluded interrupted = planted::concluded(result);
  EXPECT_EQ(interrupted.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(interrupted.words.find("of 300.0 s (21%), because it was interrupted"), std::string::npos)
      << interrupted.words;
  result.requested_seconds = 120;
  result.trace_events = 10;
  result.lost_events = 11;
  EXPECT_EQ(conclude(result).unclear, Unclear::mostly_lost);
}

// Copied files in which one of many caches never shrinks and grows in leaps. Among so many caches, this may be chance.
TEST(Conclusion, CountersAloneDoNotConfirmCachesThatNeverShrink) {
  InvestigationEvidence evidence;
  evidence.seconds = 17;
  evidence.copied = true;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  for (int of = 0; of < 100; ++of) {
    MemorySeries& flat =
        evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "other-" + std::to_string(of), {}});
    for (std::uint64_t i = 0; i < 18; ++i) flat.points.push_back({i * 1'000'000'000, i % 2 == 0 ? 1e6 : 1.005e6});
  }
  MemorySeries leaps{MemorySource::slabinfo_objects, "leaps", {}};
  double value = 1e6;
  for (std::uint64_t i = 0; i < 18; ++i) leaps.points.push_back({i * 1'000'000'000, value += i % 6 == 5 ? 3e5 : 2e3});
  evidence.states.push_back(leaps);
  InvestigationResult result = judged(evidence, 17);
  result.watched = false;
  const planted::Concluded conclusion = planted::concluded(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::cannot_tell) << conclusion.words;
  EXPECT_NE(conclusion.words.find("the slab cache leaps rises all the time"), std::string::npos) << conclusion.words;
  evidence.states.back().points[9].value = 1e6;
  result.judgement = judge(evidence);
  EXPECT_EQ(conclude(result).verdict, GrowthVerdict::no_growth);
}

// A counter that grows steadily by 100 bytes per second. The files were copied every 1,000 s.
TEST(Conclusion, ReportsSteadyGrowthBelowTheThreshold) {
  InvestigationEvidence evidence;
  evidence.seconds = 23'000;
  evidence.copied = true;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  MemorySeries& slow = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "filp", {}});
  for (std::uint64_t i = 0; i < 24; ++i)
    slow.points.push_back({i * 1'000'000'000'000, 1e6 + 1e5 * static_cast<double>(i)});
  InvestigationResult result = judged(evidence, evidence.seconds);
  result.watched = false;
  const planted::Concluded conclusion = planted::concluded(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::no_growth);
  EXPECT_NE(conclusion.words.find("Below it, growth is confirmed for the slab cache filp: 351.6 KiB an hour"),
            std::string::npos)
      << conclusion.words;
  evidence.threshold_bytes_per_s = 50;
  result.judgement = judge(evidence);
  EXPECT_EQ(conclude(result).verdict, GrowthVerdict::grows);
}

// A counter that may grow faster than the threshold is not called slow.
TEST(Conclusion, FastGrowthIsNotReportedAsSlow) {
  InvestigationEvidence evidence;
  evidence.seconds = 23;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  MemorySeries& uneven = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "filp", {}});
  for (std::uint64_t i = 0; i < 24; ++i)  // nearly flat in the first half
    uneven.points.push_back({i * 1'000'000'000, 1e6 + (i < 12 ? 200.0 * static_cast<double>(i)
                                                              : 2'400 + 4'000 * static_cast<double>(i - 12))});
  const Trend trend = trend_of(state_series(evidence.states).front().values, 1);
  ASSERT_GT(trend.bytes_per_s, evidence.threshold_bytes_per_s);
  const planted::Concluded conclusion = planted::concluded(judged(evidence, evidence.seconds));
  EXPECT_EQ(conclusion.words.find("Below it"), std::string::npos) << conclusion.words;
}

GrowthFinding weak_finding(ReasonKind reason) {
  GrowthFinding finding;
  finding.function = "do_eventfd";
  finding.task = "steady";
  finding.processes = {{"steady", 7, "", "", 1, 1e6}};
  finding.process_count = 1;
  finding.trend.bytes_per_s = 20'480;
  finding.bytes = 1e6;
  finding.reasons = {{reason, Ground::account}};
  return finding;
}

// The first sentence must agree with the findings below the sentence.
TEST(Conclusion, NamesGrowthThatIsNotConfirmed) {
  InvestigationEvidence evidence;
  evidence.seconds = 40;
  evidence.samples = steadily(160, "filp");
  evidence.samples->groups.clear();
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 80));
  for (MemorySeriesPoint& point : evidence.states.back().points) point.value = 1e6;
  InvestigationResult result = judged(evidence, 40);
  EXPECT_EQ(planted::concluded(result).words.find("No growth of kernel memory: nothing rose"), 0u);
  result.judgement.findings = {weak_finding(ReasonKind::too_slow_or_short)};
  const planted::Concluded unsure = planted::concluded(result);
  EXPECT_EQ(unsure.verdict, GrowthVerdict::no_growth);
  EXPECT_NE(unsure.words.find("Unsure: 20.0 KiB/s in do_eventfd, by steady (pid 7)."), std::string::npos)
      << unsure.words;
  result.judgement.findings = {weak_finding(ReasonKind::account_does_not_grow)};
  const planted::Concluded freed = planted::concluded(result);
  EXPECT_EQ(freed.words.find("No growth of kernel memory: "), 0u) << freed.words;
  EXPECT_NE(freed.words.find("freed as allocated here: 20.0 KiB/s in do_eventfd, by steady (pid 7)."),
            std::string::npos)
      << freed.words;
  EXPECT_EQ(conclude(result).unsure_findings, 0u);
}

TEST(Conclusion, GrowthInStepsIsUnsure) {
  InvestigationEvidence evidence = followed_until(120);
  MemorySeries& filp = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "filp", {}});
  for (std::uint64_t i = 0; i <= 60; ++i)
    filp.points.push_back({i * 2'000'000'000, 1e6 + 150'000 * static_cast<double>(i / 18)});
  const planted::Concluded unsure = planted::concluded(judged(evidence, 120));
  EXPECT_EQ(unsure.verdict, GrowthVerdict::no_growth);
  EXPECT_EQ(unsure.words.find("No confirmed growth. Unsure: the slab cache filp rose in 3 steps, from"), 0u)
      << unsure.words;
}

// A short investigation finds only fast growth. Its conclusion must state the smallest growth that it can find.
TEST(Conclusion, StatesTheGrowthThatWouldNotShow) {
  InvestigationEvidence evidence;
  evidence.seconds = 13;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  evidence.samples = steadily(52, "filp");
  evidence.samples->mean_bytes = 16 << 10;
  evidence.samples->groups.clear();
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 26));
  for (MemorySeriesPoint& point : evidence.states.back().points) point.value = 1e6;
  const planted::Concluded brief = planted::concluded(judged(evidence, 13));
  EXPECT_NE(brief.words.find("In 13 s, growth below 30.8 KiB/s may not show."), std::string::npos) << brief.words;
  evidence.seconds = 3600;
  evidence.samples->step_seconds = 3600.0 / 52;
  const planted::Concluded whole = planted::concluded(judged(evidence, 3600));
  EXPECT_EQ(whole.words.find("may not show"), std::string::npos) << whole.words;
}

// Returns samples of two tasks. The first leaks `bytes_per_s` from `begin` on. The second allocates all of its memory
// at `begin`: a quarter of the bytes that the first leaks until 120 s.
GrowthSeen sampled_since(double begin, double bytes_per_s) {
  GrowthSeen seen = steadily(480, "kmalloc-1k");
  seen.mean_bytes = 16 << 10;
  GrowthGroup other = seen.groups.front();
  other.stack = {"other_alloc+0x1", "__x64_sys_other+0x2"};
  other.task = "other";
  other.process = 8;
  GrowthGroup& leaky = seen.groups.front();
  for (std::size_t i = 0; i < seen.steps; ++i) {
    const double since = std::max(0.25 * static_cast<double>(i + 1) - begin, 0.0);
    leaky.live[i] = std::floor(since * bytes_per_s / (16 << 10)) * (16 << 10);
    other.live[i] = since > 0 ? bytes_per_s / 4 * (120 - begin) : 0;
  }
  leaky.bytes = leaky.live.back();
  leaky.seen = static_cast<std::uint64_t>(leaky.bytes / (16 << 10));
  other.bytes = other.live.back();
  seen.groups.push_back(other);
  return seen;
}

TEST(Conclusion, NamesTheTaskThatStartedToAllocateLate) {
  for (const double begin : {50.0, 60.0, 75.0}) {
    InvestigationEvidence evidence = followed_until(120);
    evidence.states.push_back(rising_since(begin, 2'000, 3));
    evidence.samples = sampled_since(begin, 80'000);
    const InvestigationResult result = judged(evidence, 120);
    ASSERT_FALSE(result.judgement.findings.empty()) << begin;
    const GrowthFinding& first = result.judgement.findings.front();
    EXPECT_EQ(first.certainty, Certainty::sure) << begin;
    EXPECT_EQ(first.call_site, "alloc_pipe_info+0x52") << begin;
    EXPECT_EQ(first.processes.front().process, 7u) << begin;
    EXPECT_NEAR(first.trend.bytes_per_s, 80'000, 8'000) << begin;
    EXPECT_EQ(std::ranges::count(result.judgement.findings, "other", &GrowthFinding::task), 0) << begin;
  }
  // A task that causes only a tenth of a cache's growth must not be named as its cause.
  InvestigationEvidence evidence = followed_until(120);
  evidence.states.push_back(rising_since(60, 2'000, 3));
  evidence.samples = sampled_since(60, 9'000);
  const Judgement small = judge(evidence);
  EXPECT_TRUE(std::ranges::none_of(small.findings,
                                   [](const GrowthFinding& finding) { return finding.certainty == Certainty::sure; }));
}

TEST(Conclusion, RandomWalksAreNotLateGrowth) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::size_t late = 0;
  for (std::size_t run = 0; run < 120; ++run) {
    InvestigationEvidence evidence = followed_until(120);
    for (std::size_t cache = 0; cache < 30; ++cache) {
      MemorySeries walk{MemorySource::slabinfo_objects, "cache-" + std::to_string(cache), {}};
      double value = 4'000'000;
      for (std::uint64_t i = 0; i <= 60; ++i)
        walk.points.push_back({i * 2'000'000'000, value = std::max(value + 40'000 * normal(random), 0.0)});
      evidence.states.push_back(std::move(walk));
    }
    const Judgement judgement = judge(evidence);
    late += static_cast<std::size_t>(
        std::ranges::any_of(judgement.states, [](const StateGrowth& state) { return state.late.has_value(); }));
    EXPECT_TRUE(std::ranges::none_of(judgement.states,
                                     [](const StateGrowth& state) { return state.late && state.late->sure; }));
  }
  EXPECT_LE(late, 6u);  // by chance, one run in twenty finds a late rise
}

TEST(Conclusion, ExplainsWhyATraceIsNotUsed) {
  InvestigationEvidence evidence;
  evidence.copied = true;
  evidence.trace = steadily(1, "filp");
  evidence.trace->groups.clear();
  InvestigationResult result;
  result.trace_seconds = 0.25;
  result.judgement = judge(evidence);
  const planted::Concluded brief = planted::concluded(result);
  EXPECT_EQ(brief.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(brief.words.find("the trace of 0.2 s is too short"), std::string::npos) << brief.words;
  EXPECT_EQ(brief.words.find("or a trace"), std::string::npos) << brief.words;
  evidence.trace->steps = 48;
  result.trace_seconds = 12;
  result.lost_events = 4711;
  result.judgement = judge(evidence);
  const planted::Concluded lossy = planted::concluded(result);
  EXPECT_NE(lossy.words.find("the trace of 12.0 s lost 4711 events"), std::string::npos) << lossy.words;
}

TEST(Conclusion, StatesThatCopiesHaveNoTimes) {
  InvestigationResult result;
  result.timeless_states = 15;
  EXPECT_NE(planted::concluded(result).words.find("at least 16 states"), std::string::npos)
      << planted::concluded(result).words;
  result.unsure_order = true;
  EXPECT_NE(planted::concluded(result).words.find("the order of the copies is not certain"), std::string::npos);
  result.unsure_order = false;
  result.timeless_states = 24;
  EXPECT_EQ(planted::concluded(result).words,
            "Cannot tell whether anything grows: the times of the 24 copies are unknown.");
}

TEST(Conclusion, DoesNotTreatSamplesAsATrace) {
  InvestigationResult result;
  result.watched = true;
  result.cut_short = "it was interrupted";
  result.judgement.seen_seconds = 0.01;
  const planted::Concluded conclusion = planted::concluded(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::cannot_tell);
  EXPECT_EQ(conclusion.words.find("the trace of"), std::string::npos) << conclusion.words;
  EXPECT_NE(conclusion.words.find("it was interrupted"), std::string::npos) << conclusion.words;
}

TEST(Conclusion, ShowsGrowthThatNoFindingExplains) {
  InvestigationResult result;
  result.watched = result.complete = result.by_root = result.all_permitted = true;
  result.seconds = 120;
  result.cost.emplace();
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  finding.certainty = Certainty::sure;
  finding.trend.bytes_per_s = 80'000;
  finding.function = "do_pipe2";
  finding.call_site = "alloc_pipe_info+0x52";
  finding.processes.push_back({.task = "leaky", .process = 7, .cgroup = {}});
  StateGrowth& state = result.judgement.states.emplace_back();
  state.name = kUnaccounted;
  state.sure = true;
  state.trend.bytes_per_s = 800'000;
  const auto has_advice = [&] {
    result.conclusion = conclude(result);
    result.judgement.seen_seconds = 60;
    const auto commands = next_commands(result);
    return std::ranges::find(commands, "kmemtrace investigate --cpu 20") != commands.end();
  };
  EXPECT_TRUE(has_advice());
  EXPECT_NE(
      conclusion_words(result).find("does not explain most of the growth: unaccounted memory grows by 781.2 KiB/s"),
      std::string::npos)
      << conclusion_words(result);
  state.explained_bytes_per_s = 750'000;
  EXPECT_FALSE(has_advice());
  EXPECT_EQ(conclusion_words(result),
            "Confirmed growth: 78.1 KiB/s in do_pipe2 (call site alloc_pipe_info+0x52), by leaky (pid 7).");
}

TEST(Conclusion, ReportsIncreasesInTooFewStates) {
  InvestigationEvidence evidence;
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 5));
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "dentry", 5));  // reclaimable
  InvestigationResult result = judged(evidence, 2);
  result.cut_short = "it was interrupted";
  const planted::Concluded conclusion = planted::concluded(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(conclusion.words.find("it was interrupted"), std::string::npos) << conclusion.words;
  EXPECT_NE(conclusion.words.find("of 5 states, 2.0 s, the slab cache kmalloc-1k rose by 390.6 KiB."),
            std::string::npos)
      << conclusion.words;
  EXPECT_EQ(conclusion.words.find("dentry"), std::string::npos) << conclusion.words;
}

// If counters were read too rarely, only samples can show growth. They may lack events, so growth is not ruled out.
TEST(Conclusion, WithoutStatesDoesNotDenyGrowth) {
  InvestigationEvidence evidence = followed_until(120);
  evidence.samples = steadily(480, "filp");
  std::ranges::fill(evidence.samples->groups.front().live, 1e6);
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 9));
  const planted::Concluded conclusion = planted::concluded(judged(evidence, 120));
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::cannot_tell) << conclusion.words;
  EXPECT_NE(conclusion.words.find("read fewer than 16 times"), std::string::npos) << conclusion.words;
}

TEST(Conclusion, ComparesTwoCopiesWithTheRecording) {
  const auto first_cache = [](const InvestigationEvidence& evidence) {
    const Judgement judgement = judge(evidence);
    return judgement.findings.empty() ? FindingCache() : judgement.findings.front().caches.front();
  };
  InvestigationEvidence evidence;
  evidence.copied = true;
  evidence.trace = steadily(64, "kmalloc-1k");
  EXPECT_EQ(words_of(first_cache(evidence).no_account.value()), "slabinfo is not among the copied files");
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "filp", 2));
  EXPECT_EQ(words_of(first_cache(evidence).no_account.value()), "slabinfo has no cache with that name");
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 2));
  const FindingCache known = first_cache(evidence);
  EXPECT_FALSE(known.no_account);
  ASSERT_TRUE(known.kernel_bytes_per_s.has_value());
  EXPECT_NEAR(*known.kernel_bytes_per_s, kRate, 1);
  evidence.trace = steadily(64, "pages of order 1");
  EXPECT_EQ(words_of(first_cache(evidence).no_account.value()), "the copied files have no counter for it");
}

std::vector<std::string> next_of(bool by_root, bool all_permitted, bool saw_caches, bool finds) {
  InvestigationResult result;
  result.seconds = 120;
  result.cost.emplace();
  result.by_root = by_root;
  result.all_permitted = all_permitted;
  result.judgement.saw_caches = saw_caches;
  if (finds) result.judgement.findings.push_back(planted::sure_finding("do_pipe2", 7));
  result.conclusion.verdict = finds ? GrowthVerdict::grows : GrowthVerdict::no_growth;
  return next_commands(result);
}

TEST(Conclusion, SuggestsOnlyPermittedCommands) {
  using Commands = std::vector<std::string>;
  EXPECT_EQ(next_of(false, false, false, false), Commands{"sudo kmemtrace investigate"});
  EXPECT_EQ(next_of(false, false, true, false), Commands{"sudo kmemtrace investigate"});
  EXPECT_EQ(next_of(false, true, true, false), Commands{"sudo kmemtrace investigate --for 10m"});
  EXPECT_EQ(next_of(false, false, true, true),
            (Commands{"sudo ls -l /proc/7/fd | tail", "sudo kmemtrace graph do_pipe2 -a -d 5s"}));
  // In a container, sudo does not give root more rights.
  EXPECT_EQ(next_of(true, false, false, false), Commands{"kmemtrace list"});
  EXPECT_EQ(next_of(true, false, true, false), (Commands{"kmemtrace list", "kmemtrace investigate --for 10m"}));
}

// The copies given with --from may be from another machine. So the suggested commands must read the copies, and not
// observe this machine.
TEST(Conclusion, SuggestsCommandsForTheGivenCopies) {
  InvestigationResult result;
  result.judgement.findings.push_back(planted::sure_finding("do_pipe2", 7, "/"));
  result.folder = "out";
  result.files = {{"summary.json", ""}, {"index.html", ""}};
  result.copies = {"my copies/before", "my copies/after.kmt", "my copies/trace.dat"};
  EXPECT_EQ(next_commands(result),
            (std::vector<std::string>{"kmemtrace leaks 'my copies/trace.dat'",
                                      "kmemtrace diff 'my copies/before' 'my copies/after.kmt'"}));
}

TEST(Conclusion, RatesOfTwoCopiesUseTheTimeBetweenThem) {
  InvestigationEvidence evidence;
  evidence.copied = true;
  evidence.trace = steadily(64, "kmalloc-1k");
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-1k", 2));
  evidence.states.push_back(series(MemorySource::slabinfo_objects, "kmalloc-cg-1k", 2));
  // This cache does not grow.
  evidence.states.front().points.back().value = evidence.states.front().points.front().value;
  const InvestigationResult result = judged(evidence, 16);
  const StateGrowth& state = result.judgement.states.front();
  EXPECT_EQ(state.trend.growth, Growth::too_few_points);
  EXPECT_NEAR(state.bytes_per_s(), kRate, 1);
  EXPECT_NEAR(state.explained_bytes_per_s, kRate, kRate / 50);
  // StateGrowth::name contains the size that events show. StateGrowth::kind is the cache that grows in slabinfo.
  EXPECT_EQ(state.name, "kmalloc-1k");
  EXPECT_EQ(state.kind, "kmalloc-cg-1k");
  EXPECT_EQ(result.judgement.findings.front().caches.front().kind, "kmalloc-cg-1k");
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("in kmalloc-cg-1k, 100% of the"), std::string::npos) << text;
  std::string row = text.substr(text.find("\n  kmalloc-cg-1k") + 1);
  row.resize(row.find('\n'));
  EXPECT_NE(row.find("100%"), std::string::npos) << text;
  EXPECT_EQ(row.find(" - "), std::string::npos) << text;
}

TEST(Conclusion, MemoryOfTheRecorderIsNoGrowth) {
  InvestigationEvidence evidence;
  evidence.seconds = 16;
  evidence.trace = steadily(32, "kmalloc-1k");
  evidence.setup_begin_seconds = 8.2;
  evidence.setup_end_seconds = 8.4;
  const auto jump_at = [](const char* name, std::size_t at) {
    MemorySeries jump = series(MemorySource::slabinfo_objects, name, 32);
    for (std::size_t i = 0; i < 32; ++i) jump.points[i].value = i < at ? 1e6 : 1.2e6;
    return jump;
  };
  MemorySeries restless = jump_at("anon_vma", 17);
  for (std::size_t i = 1; i < 31; i += 5) restless.points[i].value += 1e5;
  evidence.states = {series(MemorySource::slabinfo_objects, "kmalloc-1k", 32), jump_at("kmalloc-96", 17),
                     jump_at("kmalloc-64", 5), jump_at("trace_event_file", 17), restless};
  const Judgement judgement = judge(evidence);
  const auto is_recorders = [&](const std::string& name) {
    return std::ranges::find(judgement.states, name, &StateGrowth::name)->is_recorders;
  };
  EXPECT_TRUE(is_recorders("kmalloc-96"));
  EXPECT_TRUE(is_recorders("trace_event_file"));
  EXPECT_FALSE(is_recorders("kmalloc-64"));  // jumped before the recording started
  EXPECT_FALSE(is_recorders("kmalloc-1k"));
  EXPECT_FALSE(is_recorders("anon_vma"));
}

TEST(Conclusion, AFindingExplainsAllItsCaches) {
  InvestigationEvidence evidence;
  evidence.seconds = 16;
  evidence.trace = steadily(64, "kmalloc-1k");
  GrowthGroup small = evidence.trace->groups.front();
  small.cache = "lsm_file_cache";
  small.bytes /= 19;  // 5 % of the recorded and of the sampled growth; such a small share is not named
  for (double& live : small.live) live /= 19;
  evidence.trace->groups.push_back(small);
  MemorySeries slabs = series(MemorySource::meminfo, "SUnreclaim", 32);
  evidence.states = {series(MemorySource::slabinfo_objects, "kmalloc-1k", 32),
                     series(MemorySource::slabinfo_objects, "lsm_file_cache", 32), slabs};
  const Judgement judgement = judge(evidence);
  ASSERT_EQ(judgement.findings.size(), 1u);
  ASSERT_EQ(judgement.findings[0].caches.size(), 1u);
  const auto explained = [&](const std::string& name) {
    return std::ranges::find(judgement.states, name, &StateGrowth::name)->explained_bytes_per_s;
  };
  EXPECT_NEAR(explained("kmalloc-1k"), kRate, kRate / 100);
  EXPECT_NEAR(explained("lsm_file_cache"), kRate / 19, kRate / 100);
  EXPECT_NEAR(explained("SUnreclaim"), kRate * 20 / 19, kRate / 100);
}

}  // namespace
}  // namespace kmt
