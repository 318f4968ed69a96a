// SPDX-License-Identifier: GPL-2.0-or-later
// What is judged to grow, of made sources: steady growth beside noise, noise alone, and sources that contradict.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "analysis/conclusion.hpp"
#include "analysis/growth_clusters.hpp"
#include "analysis/investigation.hpp"
#include "analysis/leaks.hpp"
#include "analysis/narrowing.hpp"
#include "views/json_investigation.hpp"
#include "views/text_investigation.hpp"

namespace kmt {
namespace {

constexpr std::size_t kSteps = 64;
constexpr double kStepSeconds = 0.25;
constexpr double kSeconds = kSteps * kStepSeconds;
constexpr double kRate = 200'000;  // bytes a second, of what is planted

using Course = std::function<double(double seconds)>;

double steady(double seconds) { return kRate * seconds; }

GrowthGroup group_of(std::vector<std::string> stack, const std::string& cache, const std::string& task,
                     std::uint32_t process, const Course& course, double begin = 0) {
  GrowthGroup group;
  group.stack = std::move(stack);
  group.cache = cache;
  group.task = task;
  group.process = process;
  for (std::size_t i = 1; i <= kSteps; ++i) group.live.push_back(course(begin + static_cast<double>(i) * kStepSeconds));
  group.bytes = group.live.back();
  group.objects = group.bytes / 1024;
  group.seen = static_cast<std::uint64_t>(std::max(group.objects, 1.0));
  return group;
}

const std::vector<std::string> kPipe = {"alloc_pipe_info+0x52", "create_pipe_files+0x44",
                                        "do_pipe2+0x3c",        "__x64_sys_pipe2+0x14",
                                        "do_syscall_64+0x82",   "entry_SYSCALL_64_after_hwframe+0x76"};
const std::vector<std::string> kPipeFile = {"alloc_empty_file+0x41",
                                            "alloc_file+0x2a",
                                            "create_pipe_files+0x91",
                                            "do_pipe2+0x3c",
                                            "__x64_sys_pipe2+0x14",
                                            "do_syscall_64+0x82",
                                            "entry_SYSCALL_64_after_hwframe+0x76"};

// What comes and goes at random, of many tasks.
class RandomNumbers {
 public:
  explicit RandomNumbers(unsigned seed) : random_(seed) {}
  Course walk(double step_bytes) {
    std::vector<double> values;
    double value = 500'000;
    for (std::size_t i = 0; i <= 2 * kSteps; ++i)
      values.push_back(value = std::max(0.0, value + step_bytes * normal_(random_)));
    return [values](double seconds) {
      return values[std::min(static_cast<std::size_t>(seconds / kStepSeconds), values.size() - 1)];
    };
  }
  void fill(GrowthSeen& seen, std::size_t groups) {
    for (std::size_t i = 0; i < groups; ++i)
      seen.groups.push_back(group_of({"noise+0x1", "__x64_sys_" + std::to_string(i)}, "filp", "cc1plus",
                                     static_cast<std::uint32_t>(100 + i), walk(40'000)));
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

GrowthSeen empty_seen(std::uint64_t mean_bytes) {
  GrowthSeen seen;
  seen.step_seconds = kStepSeconds;
  seen.steps = kSteps;
  seen.mean_bytes = mean_bytes;
  return seen;
}

MemorySeries cache_series(const std::string& name, const Course& course) {
  MemorySeries series{MemorySource::slabinfo_objects, name, {}};
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double seconds = static_cast<double>(i) * kStepSeconds;
    series.points.push_back({static_cast<std::uint64_t>(seconds * 1e9), 4'000'000 + course(seconds)});
  }
  return series;
}

// A sampled watch with a recording of as long behind it.
InvestigationEvidence evidence_with_noise(unsigned seed) {
  InvestigationEvidence evidence;
  evidence.seconds = 2 * kSeconds;
  evidence.threshold_bytes_per_s = kUsualThreshold;
  evidence.samples = empty_seen(16 << 10);
  evidence.trace = empty_seen(0);
  evidence.trace_begin_seconds = kSeconds;
  RandomNumbers noise(seed);
  noise.fill(*evidence.samples, 60);
  noise.fill(*evidence.trace, 60);
  evidence.states.push_back(cache_series("filp", noise.walk(100'000)));
  evidence.states.push_back(cache_series("kmalloc-cg-1k", noise.walk(5'000)));
  return evidence;
}

void plant(InvestigationEvidence& evidence) {
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
    seen->groups.push_back(group_of(kPipe, "kmalloc-1k", "leaky", 4321, steady));
    seen->groups.push_back(group_of(kPipeFile, "filp", "leaky", 4321, [](double s) { return steady(s) / 3; }));
  }
  evidence.states[1] = cache_series("kmalloc-cg-1k", steady);
}

TEST(Investigation, NamesWhatWasPlanted) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  const GrowthFinding& first = judgement.findings.front();
  EXPECT_EQ(first.certainty, Certainty::sure);
  EXPECT_EQ(first.function, "create_pipe_files");
  EXPECT_EQ(first.entry, "__x64_sys_pipe2");
  EXPECT_EQ(first.call_site, "alloc_pipe_info+0x52");
  EXPECT_EQ(first.processes.front().process, 4321u);
  EXPECT_TRUE(first.exact);
  EXPECT_NEAR(first.trend.bytes_per_s, kRate * 4 / 3, kRate / 20);
  ASSERT_EQ(first.caches.size(), 2u);
  EXPECT_EQ(first.caches[0].name, "kmalloc-1k");
  EXPECT_NEAR(*first.caches[0].kernel_bytes_per_s, kRate, kRate / 20);
  EXPECT_EQ(first.caches[0].kind, "kmalloc-cg-1k");
}

TEST(Investigation, NoiseIsNoGrowth) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Judgement judgement = judge(evidence_with_noise(seed));
    EXPECT_FALSE(judgement.found()) << "seed " << seed << ": " << judgement.findings.front().function;
  }
}

TEST(Investigation, SamplesAloneNeedTheKernelsAccount) {
  InvestigationEvidence evidence = evidence_with_noise(2);
  plant(evidence);
  evidence.trace.reset();
  EXPECT_TRUE(judge(evidence).found());
  evidence.states.clear();
  const Judgement judgement = judge(evidence);
  EXPECT_FALSE(judgement.found());
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().certainty, Certainty::likely);
}

// Copies of two times, and a trace.
TEST(Investigation, ADifferenceBearsOutWhatWasRecorded) {
  InvestigationEvidence evidence = evidence_with_noise(2);
  plant(evidence);
  evidence.samples.reset();
  for (MemorySeries& series : evidence.states) series.points = {series.points.front(), series.points.back()};
  EXPECT_TRUE(judge(evidence).found());
  InvestigationResult result;
  for (MemorySeries& series : evidence.states)
    series.points.back().value = series.points.front().value;  // others free as much
  result.judgement = judge(evidence);
  EXPECT_FALSE(result.judgement.found());
  EXPECT_EQ(conclude(result).verdict, GrowthVerdict::cannot_tell);
}

// As in recordings before Linux 6.1.
TEST(Investigation, ObjectsWithoutACacheNeedTheAccountOfTheirSize) {
  InvestigationEvidence evidence = evidence_with_noise(8);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    seen->groups.push_back(group_of(kPipeFile, "objects of 256 B", "leaky", 4321, steady));
  const Judgement alone = judge(evidence);
  ASSERT_FALSE(alone.findings.empty());
  EXPECT_EQ(alone.findings.front().certainty, Certainty::likely);
  evidence.states.push_back(cache_series("objects of 256 B", steady));
  const Judgement judgement = judge(evidence);
  EXPECT_TRUE(judgement.found());
  EXPECT_EQ(std::ranges::count(narrow(evidence).caches, "objects of 256 B"), 0);
  EXPECT_EQ(std::ranges::count(judgement.states, "objects of 256 B", &StateGrowth::name), 0);
}

// Few samples rise in steps, and of their last half little can be told; the cache that they are of rises evenly.
TEST(Investigation, TheAccountNamesWhoTakesWhatGrows) {
  const double rate = 30'000;
  const Course few = [](double seconds) { return 32'000 * std::floor(std::min(seconds, 10.0)); };
  const auto evidence_of = [&](const std::string& cache, const Course& course) {
    InvestigationEvidence evidence = evidence_with_noise(11);
    evidence.trace.reset();
    // Half of what it takes.
    evidence.samples->groups.push_back(
        group_of(kPipe, "key_jar", "leaky", 4321, [&](double s) { return course(s) / 2; }));
    evidence.samples->groups.push_back(
        group_of(kPipe, "kmalloc-32", "leaky", 4321, [&](double s) { return course(s) / 2; }));
    evidence.samples->groups.back().seen = 10;
    evidence.states.push_back(cache_series(cache, [&](double seconds) { return rate * seconds; }));
    return judge(evidence);
  };
  const Judgement judgement = evidence_of("key_jar", few);
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings.front().certainty, Certainty::sure);
  EXPECT_EQ(judgement.findings.front().processes.front().process, 4321u);
  const auto names = [](const Judgement& one) {
    return std::ranges::any_of(one.findings, [](const GrowthFinding& finding) {
      return finding.certainty == Certainty::sure && finding.processes.front().process == 4321;
    });
  };
  EXPECT_FALSE(names(evidence_of("kmalloc-192", few)));  // something else grows
  EXPECT_FALSE(names(evidence_of("key_jar", [](double seconds) { return seconds < 3 ? 0 : 400'000; })));  // at once
}

TEST(Investigation, RecordingsOfAMomentTellNothing) {
  InvestigationEvidence evidence = evidence_with_noise(7);
  plant(evidence);
  evidence.samples.reset();
  EXPECT_TRUE(judge(evidence).found());
  evidence.trace->step_seconds = 0.5 / kSteps;
  EXPECT_FALSE(judge(evidence).found());
  evidence.states.clear();
  EXPECT_TRUE(judge(evidence).findings.empty());
}

// A cache surely grows; a moment's recording, or a handful of samples, tells who holds most of it.
TEST(Investigation, WhoHoldsMostOfWhatGrowsIsLikely) {
  for (const bool recorded : {true, false}) {
    InvestigationEvidence evidence = evidence_with_noise(7);
    const double part = recorded ? 0.02 : 1;  // of the time
    evidence.trace = empty_seen(0);
    evidence.trace->step_seconds *= part;
    if (!recorded) evidence.trace.reset();
    std::vector<GrowthGroup>& groups = recorded ? evidence.trace->groups : evidence.samples->groups;
    const auto hold = [&](const std::string& task, std::uint32_t process, double bytes) {
      groups.push_back(group_of(kPipe, "key_jar", task, process, [&](double s) { return s < 5 ? 0 : bytes; }));
      groups.back().seen = 6;
    };
    hold("leaky", 4321, 6'000);
    hold("others", 77, 4'000);
    evidence.states.push_back(cache_series("key_jar", steady));
    const Judgement judgement = judge(evidence);
    ASSERT_FALSE(judgement.findings.empty());
    const GrowthFinding& first = judgement.findings.front();
    EXPECT_EQ(first.certainty, Certainty::likely);
    EXPECT_EQ(first.exact, recorded);
    EXPECT_EQ(first.processes.front().process, 4321u);
    EXPECT_NEAR(first.trend.bytes_per_s, 0.6 * kRate, kRate / 50);
    groups.back().bytes = 7'000;  // now no one has most of it by far
    groups.back().task = "leaky too";
    groups.push_back(groups.back());
    groups.back().task = "third";
    EXPECT_TRUE(std::ranges::none_of(
        judge(evidence).findings, [](const GrowthFinding& finding) { return finding.certainty != Certainty::weak; }));
  }
}

// What the kernel keeps for a recording comes and goes in caches that others fill, too.
TEST(Investigation, ARecordingsOwnMemoryHidesNoGrowth) {
  const auto with_bump = [](double begin, double end) {
    return [begin, end](double s) { return kRate / 10 * s + (s > begin && s < end ? 600'000 : 0); };
  };
  for (const bool is_known : {true, false}) {
    InvestigationEvidence evidence = evidence_with_noise(7);
    evidence.trace->step_seconds = 0.8 / kSteps;
    evidence.states.push_back(cache_series("key_jar", with_bump(8, 10)));
    evidence.setup_begin_seconds = is_known ? 7.9 : 0;
    evidence.setup_end_seconds = is_known ? 8.9 : 0;
    const Judgement judgement = judge(evidence);
    const auto state = std::ranges::find(judgement.states, "key_jar", &StateGrowth::name);
    ASSERT_NE(state, judgement.states.end());
    EXPECT_EQ(state->sure, is_known);
    EXPECT_GT(*std::ranges::max_element(state->values), state->last);  // shown as it was
  }
}

// Caches of a kmalloc size are one for samples; what comes and goes in one of them says nothing of the others.
TEST(Investigation, TheCacheOfASizeThatRisesIsJudgedAlone) {
  InvestigationEvidence evidence = evidence_with_noise(7);
  evidence.trace.reset();
  evidence.states.push_back(cache_series("kmalloc-64", [](double s) { return s > 7 && s < 9 ? 900'000 : 0; }));
  evidence.states.push_back(cache_series("kmalloc-cg-64", [](double s) { return kRate / 10 * s; }));
  const Judgement judgement = judge(evidence);
  const auto state = std::ranges::find(judgement.states, "kmalloc-64", &StateGrowth::name);
  ASSERT_NE(state, judgement.states.end());
  EXPECT_TRUE(state->sure);
  EXPECT_EQ(state->kind, "kmalloc-cg-64");
  EXPECT_EQ(state->first, 4'000'000);
}

TEST(Investigation, SaysWhatElseGrows) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  evidence.states.push_back(cache_series("key_jar", [](double s) { return steady(s) / 2; }));
  evidence.states.push_back(cache_series("lsm_file_cache", [](double s) { return steady(s) / 20; }));
  InvestigationResult result;
  result.judgement = judge(evidence);
  const std::string words = conclude(result).words;
  EXPECT_NE(words.find("key_jar by 97.7 KiB/s surely grows"), std::string::npos) << words;
  EXPECT_EQ(words.find("lsm_file_cache"), std::string::npos) << words;  // comes with the files
}

TEST(Investigation, SaysWhichCachesWereMerged) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  evidence.states.push_back(cache_series("sigqueue", steady));
  InvestigationResult result;
  result.judgement = judge(evidence);
  SnapshotResult snapshot;
  snapshot.caches.resize(1);
  snapshot.caches[0].name = "sigqueue";
  snapshot.caches[0].aliases = {"inotify_inode_mark", "dnotify_mark"};
  name_merged(snapshot, result.judgement);
  const std::string words = conclude(result).words;
  EXPECT_NE(words.find("sigqueue (merged with inotify_inode_mark, dnotify_mark) by"), std::string::npos) << words;
}

// Each task has a stack that nobody traces.
TEST(Investigation, SaysThatTasksHaveStacks) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    seen->groups.push_back(group_of(kPipe, "task_struct", "leaky", 4321, steady));
  evidence.states.push_back(cache_series("task_struct", steady));
  evidence.states.push_back(cache_series("KernelStack", [](double s) { return 4 * steady(s); }));
  evidence.states.back().source = MemorySource::meminfo;
  InvestigationResult result;
  result.judgement = judge(evidence);
  const std::string words = conclude(result).words;
  EXPECT_NE(words.find("KernelStack grows by 781.2 KiB/s"), std::string::npos) << words;
}

// Objects that live longer than the recording look like growth in it, and only there.
TEST(Investigation, LongLivesAreNoGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(3);
  evidence.trace->groups.push_back(group_of(kPipe, "kmalloc-1k", "server", 77, steady));
  EXPECT_FALSE(judge(evidence).found());  // no samples of the time before
  evidence = evidence_with_noise(3);
  plant(evidence);
  evidence.states[1] = cache_series("kmalloc-cg-1k", [](double) { return 0; });
  evidence.states[0] = cache_series("filp", [](double) { return 0; });
  EXPECT_FALSE(judge(evidence).found());  // others free as much
}

TEST(Investigation, WhatIsNoSlabExplainsNoSlabs) {
  for (const std::string cache : {"percpu memory", "vmalloc areas", "kmalloc-1k"}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
      seen->groups.push_back(group_of(kPipe, cache, "leaky", 4321, steady));
    evidence.states.push_back(cache_series("SUnreclaim", steady));
    evidence.states.back().source = MemorySource::meminfo;
    const Judgement judgement = judge(evidence);
    ASSERT_FALSE(judgement.findings.empty());
    ASSERT_NE(judgement.findings.front().certainty, Certainty::weak);
    const auto slabs = std::ranges::find(judgement.states, "SUnreclaim", &StateGrowth::name);
    ASSERT_NE(slabs, judgement.states.end());
    EXPECT_EQ(slabs->explained_bytes_per_s > 0, cache == "kmalloc-1k") << cache;
  }
}

TEST(Investigation, WhatIsLeftOutIsNotJudged) {
  InvestigationEvidence evidence = evidence_with_noise(4);
  plant(evidence);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    for (GrowthGroup& group : seen->groups)
      if (group.task == "leaky") group.left_out = "the kernel takes it back";
  const Judgement judgement = judge(evidence);
  EXPECT_FALSE(judgement.found());
  EXPECT_GT(judgement.left_out_bytes, kRate * kSeconds);
}

TEST(Investigation, NarrowsToWhatGrows) {
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

// Other's tracing comes and goes as well.
TEST(Investigation, WhatTracingKeepsIsNotRecordedAlone) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kUsualThreshold;
  evidence.states.push_back(cache_series("ftrace_event_field", steady));
  EXPECT_TRUE(narrow(evidence).empty());
  evidence.states.push_back(cache_series("key_jar", steady));
  EXPECT_TRUE(narrow(evidence).has("key_jar"));
}

TEST(Investigation, TheAccountAloneNarrowsToo) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kUsualThreshold;
  evidence.states.push_back(cache_series("kmalloc-rnd-03-512", steady));
  evidence.states.push_back(cache_series("dentry", steady));
  evidence.states.push_back(cache_series("vmap_area", steady));  // of what is freed, until it is purged
  MemorySeries unaccounted = cache_series(std::string(kUnaccounted), steady);
  unaccounted.source = MemorySource::meminfo;
  evidence.states.push_back(unaccounted);
  const Narrowing narrowing = narrow(evidence);
  EXPECT_EQ(narrowing.sizes, std::vector<std::uint64_t>{512});
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

TEST(Investigation, RecordingsWithoutStacksBorrowThoseOfSamples) {
  InvestigationEvidence evidence = evidence_with_noise(6);
  plant(evidence);
  // Another process of the same name opens files and closes them.
  std::vector<std::string> open = {kPipeFile.front(), "path_openat+0x40", "__x64_sys_openat+0x5d"};
  evidence.samples->groups.push_back(group_of(open, "filp", "leaky", 99, [](double) { return 10 * kRate * kSeconds; }));
  for (GrowthGroup& group : evidence.trace->groups) group.stack.resize(1);
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  EXPECT_EQ(judgement.findings.front().function, "create_pipe_files");
  EXPECT_EQ(judgement.findings.front().sites.front().stack, kPipe);
}

TEST(Investigation, AdvisesOnlyCommandsThatCanBeRun) {
  InvestigationResult result;
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  finding.certainty = Certainty::sure;
  finding.function = "do_pipe2.isra.0";
  finding.processes.push_back({"leaky", 4321, "", 1, 1});
  GrowthFinding second = finding;
  second.function = "x;reboot";
  result.judgement.findings.push_back(second);
  result.cost.emplace();
  result.folder = "it's here";
  result.files = {{"before.kmt", ""}, {"after.kmt", ""}};
  result.trace_seconds = 5;
  result.diff.emplace();
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{
                                       "ls -l /proc/4321/fd | tail",
                                       "kmemtrace graph do_pipe2.isra.0 -a -d 5s",
                                       "kmemtrace diff 'it'\\''s here/before.kmt' 'it'\\''s here/after.kmt'",
                                   }));
  result.cost.reset();  // copies, of another kernel
  result.files = {{"summary.json", ""}};
  EXPECT_EQ(next_commands(result), std::vector<std::string>());
}

TEST(Investigation, AdvisesWhatShowsWhatIsHeldHere) {
  InvestigationResult result;
  result.cost.emplace();
  result.no_calls = true;
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  finding.certainty = Certainty::sure;
  finding.function = "__key_create_or_update";
  finding.processes.push_back({"leaky", 4321, "", 1, 1});
  finding.entry = "__x64_sys_add_key";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"cat /proc/keys"}));
  finding.entry = "__x64_sys_msgsnd";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"nsenter -t 4321 -i cat /proc/sysvipc/msg"}));
}

// While the recording began nothing was read for a third of the time.
TEST(Investigation, GrowthIsEvenWhereStatesWereReadUnevenly) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  MemorySeries series = cache_series("SUnreclaim", steady);
  series.source = MemorySource::meminfo;
  const std::size_t third = series.points.size() / 3;
  series.points.erase(series.points.begin() + static_cast<std::ptrdiff_t>(third),
                      series.points.begin() + static_cast<std::ptrdiff_t>(2 * third));
  evidence.states.push_back(series);
  const std::vector<StateGrowth> states = judge(evidence).states;
  const auto found = std::ranges::find(states, "SUnreclaim", &StateGrowth::name);
  ASSERT_NE(found, states.end());
  EXPECT_TRUE(found->sure);
}

// Messages have buckets of their own, of which the event of kmalloc tells nothing.
TEST(Investigation, CachesOfBucketsAreThoseOfKmalloc) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  evidence.states.push_back(cache_series("msg_msg-1k", steady));
  const std::vector<StateGrowth> states = judge(evidence).states;
  EXPECT_NE(std::ranges::find(states, "kmalloc-1k", &StateGrowth::name), states.end());
}

TEST(InvestigationText, SharesAddUpToNoMoreThanAll) {
  InvestigationResult result;
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  finding.call_site = "take+0x1";
  finding.bytes = 100 << 10;  // recorded; what was not is estimated on top of it
  for (const char* const name : {"take+0x1", "other+0x2"}) {
    FindingSite& site = finding.sites.emplace_back();
    site.call_site = name;
    site.stack = {name};
    site.bytes = 80 << 10;
  }
  finding.processes.emplace_back().bytes = 100 << 10;
  StateGrowth& state = result.judgement.states.emplace_back();
  state.name = "filp";
  state.last = 1 << 20;
  state.trend.growth = Growth::steady;
  state.trend.bytes_per_s = 1000;
  state.explained_bytes_per_s = 1020;
  result.judgement.followed = 1;
  std::string text = text_investigation(result, {});
  const std::size_t first = text.find("50%");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("50%", first + 1), std::string::npos) << text;
  EXPECT_EQ(text.find("80%"), std::string::npos) << text;
  EXPECT_EQ(text.find("Where findings took more"), std::string::npos) << text;
  state.explained_bytes_per_s = 3000;
  text = text_investigation(result, {});
  EXPECT_EQ(text.find("300%"), std::string::npos) << text;
  EXPECT_NE(text.find("Where findings took more"), std::string::npos) << text;
}

// It may be of another's evidence.json.
TEST(InvestigationText, WhyItEndedReachesNoTerminalRaw) {
  InvestigationResult result;
  result.complete = false;
  result.cut_short = "\x1b[31mred";
  for (const std::string& text : {text_investigation(result, {}), json_investigation(result)}) {
    EXPECT_NE(text.find("[31mred"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("u001b"), std::string::npos) << text;
  }
}

// A soft interrupt runs on the stack of whatever was interrupted, which asked for nothing.
TEST(GrowthClusters, InterruptsEndWhereTheyBegin) {
  const std::vector<std::string> stack = {
      "alloc_skb+0x1",       "receive+0x2",      "handle_softirqs+0xd8", "do_softirq+0x3", "__local_bh_enable_ip+0x1",
      "__x64_sys_close+0x4", "do_syscall_64+0x1"};
  EXPECT_EQ(functions_of(stack), (std::vector<std::string_view>{"alloc_skb", "receive"}));
  EXPECT_EQ(own_stack(stack).back(), "handle_softirqs+0xd8");
  EXPECT_EQ(functions_of({"handle_softirqs+0x1"}), (std::vector<std::string_view>{"handle_softirqs"}));
  EXPECT_EQ(functions_of(kPipe).back(), "__x64_sys_pipe2");
  EXPECT_EQ(own_stack(kPipe), kPipe);
}

// What a recording of a moment does not show says nothing against samples of the whole time.
TEST(Investigation, ShortRecordingsDoNotSpeakAgainstSamples) {
  InvestigationEvidence evidence = evidence_with_noise(7);
  plant(evidence);
  evidence.narrowing.sizes = {1024};
  evidence.narrowing.caches = {"filp"};
  evidence.trace->steps = 2;
  evidence.trace->step_seconds = 0.2;
  for (GrowthGroup& group : evidence.trace->groups) group.live = {0, 0};
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  EXPECT_FALSE(judgement.findings.front().exact);
  EXPECT_EQ(judgement.findings.front().processes.front().process, 4321u);
}

// Samples of slabs cannot bear out pages, and so do not speak against them.
TEST(Investigation, RecordedPagesNeedNoSamplesOfSlabs) {
  const std::vector<std::string> ring = {"alloc_one_pg_vec_page+0x20", "packet_set_ring+0x1bf",
                                         "packet_setsockopt+0x10", "__x64_sys_setsockopt+0x1f"};
  for (const bool pages_are_sampled : {false, true}) {
    InvestigationEvidence evidence = evidence_with_noise(8);
    evidence.samples->pages = pages_are_sampled;
    evidence.trace->groups.push_back(group_of(ring, "pages of order 1", "leaky", 4321, steady));
    evidence.states.push_back(cache_series(std::string(kUnaccounted), steady));
    evidence.states.back().source = MemorySource::meminfo;
    const Judgement judgement = judge(evidence);
    ASSERT_FALSE(judgement.findings.empty());
    EXPECT_EQ(judgement.findings.front().function, "alloc_one_pg_vec_page");
    EXPECT_EQ(judgement.findings.front().certainty, pages_are_sampled ? Certainty::weak : Certainty::sure);
  }
}

TEST(Investigation, PagesBelongToWhoAskedForThem) {
  std::vector<std::string> ring = {"__alloc_pages_noprof+0x1", "alloc_pages_mpol+0x1", "get_free_pages_noprof+0x2",
                                   "alloc_one_pg_vec_page+0x20", "packet_set_ring+0x1bf"};
  EXPECT_TRUE(find_page_owner(ring).left_out.empty());
  EXPECT_EQ(ring.front(), "alloc_one_pg_vec_page+0x20");
  std::vector<std::string> slab = {"__alloc_pages+0x1", "allocate_slab+0x1", "___slab_alloc+0x1",
                                   "kmem_cache_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(slab).is_slab);
  std::vector<std::string> table = {"__alloc_pages+0x1", "pte_alloc_one+0x1", "__pte_alloc+0x1"};
  EXPECT_FALSE(find_page_owner(table).left_out.empty());
  std::vector<std::string> directory = {"__filemap_get_folio+0x200", "bdev_getblk+0x1", "ext4_add_nondir+0x1"};
  EXPECT_FALSE(find_page_owner(directory).left_out.empty());
  std::vector<std::string> area = {"__alloc_pages+0x1", "__vmalloc_node_range+0x1", "bpf_map_area_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(area).is_vmalloc);
  // Linux 6.18: __vmalloc_area_node() is inlined, and what remains has another name.
  area = {"__alloc_frozen_pages_noprof+0x1", "alloc_pages_mpol+0x1",
          "alloc_frozen_pages_noprof+0x1",   "alloc_pages_noprof+0x1",
          "__vmalloc_node_range_noprof+0x1", "__bpf_map_area_alloc+0x1"};
  EXPECT_TRUE(find_page_owner(area).is_vmalloc);
  std::vector<std::string> large = {"__alloc_frozen_pages_noprof+0x1", "___kmalloc_large_node+0x1",
                                    "__kmalloc_large_node_noprof+0x1", "__kmalloc_noprof+0x1"};
  EXPECT_TRUE(find_page_owner(large).is_slab);
}

TEST(Investigation, AreasOfVmallocExplainTheirLine) {
  InvestigationEvidence evidence = evidence_with_noise(8);
  evidence.samples->pages = true;
  const std::vector<std::string> stack = {"__bpf_map_area_alloc+0x1", "array_map_alloc+0x1", "__x64_sys_bpf+0x1f"};
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    seen->groups.push_back(group_of(stack, "vmalloc areas", "leaky", 4321, steady));
  evidence.states.push_back(cache_series("VmallocUsed", steady));
  evidence.states.back().source = MemorySource::meminfo;
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  const auto line = std::ranges::find(judgement.states, "VmallocUsed", &StateGrowth::name);
  ASSERT_NE(line, judgement.states.end());
  EXPECT_NEAR(line->explained_bytes_per_s, kRate, kRate / 10);
}

TEST(Investigation, SoftInterruptsEnterBySoftInterrupts) {
  const std::vector<std::string> stack = {"__alloc_skb+0x1",     "tcp_v4_rcv+0x1",           "net_rx_action+0x1",
                                          "handle_softirqs+0x1", "__local_bh_enable_ip+0x1", "__x64_sys_close+0x1",
                                          "do_syscall_64+0x1"};
  EXPECT_EQ(functions_of(stack).back(), "net_rx_action");
}

InvestigationResult result_of(const InvestigationEvidence& evidence, double seconds) {
  InvestigationResult result;
  result.seconds = seconds;
  result.watched = true;
  result.cost.emplace();
  result.judgement = judge(evidence);
  return result;
}

TEST(Investigation, HasThreeVerdicts) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  EXPECT_EQ(conclude(result_of(evidence, 30)).verdict, GrowthVerdict::no_growth);
  InvestigationResult result = result_of(evidence, 4);
  result.cut_short = "it was interrupted";
  const Conclusion early = conclude(result);
  EXPECT_EQ(early.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(early.words.find("it was interrupted"), std::string::npos);
  plant(evidence);
  EXPECT_EQ(conclude(result_of(evidence, 4)).verdict, GrowthVerdict::grows);
}

TEST(Investigation, GrowthWithoutACallSiteIsGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  evidence.states.push_back(cache_series("SUnreclaim", steady));
  evidence.states.back().source = MemorySource::meminfo;
  const InvestigationResult result = result_of(evidence, 30);
  EXPECT_FALSE(result.judgement.found());
  const Conclusion conclusion = conclude(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::grows);
  EXPECT_NE(conclusion.words.find("SUnreclaim by 195.3 KiB/s"), std::string::npos) << conclusion.words;
  const auto next = next_commands(result);
  EXPECT_EQ(next.empty(), false);
}

// Nobody may read slabinfo, load programs or record: sums alone are no ground to say that nothing grows.
TEST(Investigation, SumsAloneDoNotTell) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kUsualThreshold;
  evidence.states.push_back(cache_series("SUnreclaim", [](double) { return 0; }));
  evidence.states.back().source = MemorySource::meminfo;
  EXPECT_EQ(conclude(result_of(evidence, 30)).verdict, GrowthVerdict::cannot_tell);
  evidence.states.back() = cache_series("SUnreclaim", steady);
  evidence.states.back().source = MemorySource::meminfo;
  const Conclusion conclusion = conclude(result_of(evidence, 30));
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::grows);
  EXPECT_NE(conclusion.words.find("could not be seen"), std::string::npos) << conclusion.words;
}

}  // namespace
}  // namespace kmt
