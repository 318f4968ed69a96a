// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how growth is judged, with generated data: steady growth with noise, noise alone, and contradicting sources.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "analysis/growth/narrowing.hpp"
#include "support/investigation_evidence.hpp"

namespace kmt::planted {
namespace {

TEST(Investigation, NamesPlantedGrowth) {
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

TEST(Investigation, SamplesAloneNeedTheKernelsCounters) {
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

// Copies of the kernel's files at two times, and a trace recorded between these times.
TEST(Investigation, ADifferenceOfCopiesConfirmsTheRecording) {
  InvestigationEvidence evidence = evidence_with_noise(2);
  plant(evidence);
  evidence.samples.reset();
  for (MemorySeries& series : evidence.states) series.points = {series.points.front(), series.points.back()};
  EXPECT_TRUE(judge(evidence).found());
  InvestigationResult result;
  for (MemorySeries& series : evidence.states)
    series.points.back().value = series.points.front().value;  // other tasks free as much memory as the growth adds
  result.judgement = judge(evidence);
  EXPECT_FALSE(result.judgement.found());
  EXPECT_EQ(conclude(result).verdict, GrowthVerdict::cannot_tell);
}

// Before Linux 6.1, recordings do not contain the names of caches.
TEST(Investigation, ObjectsWithoutACacheNeedCountersOfTheirSize) {
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

// A task has few samples. They rise in steps, and only during the first 10 of 16 seconds. The counter of the cache that
// the task allocates from rises steadily.
TEST(Investigation, CountersAndSharesNameTheTask) {
  const double rate = 30'000;
  const Course few = [](double seconds) { return 32'000 * std::floor(std::min(seconds, 10.0)); };
  const auto evidence_of = [&](const std::string& cache, const Course& course) {
    InvestigationEvidence evidence = evidence_with_noise(11);
    evidence.trace.reset();
    // Each of the two groups has half of the growth.
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
  EXPECT_FALSE(names(evidence_of("kmalloc-192", few)));  // the growing cache is not that of the task
  EXPECT_FALSE(names(evidence_of("key_jar", [](double seconds) { return seconds < 3 ? 0 : 400'000; })));  // one jump
}

TEST(Investigation, ShortRecordingsAreNotJudged) {
  InvestigationEvidence evidence = evidence_with_noise(7);
  plant(evidence);
  evidence.samples.reset();
  EXPECT_TRUE(judge(evidence).found());
  evidence.trace->step_seconds = 0.5 / kSteps;
  EXPECT_FALSE(judge(evidence).found());
  evidence.states.clear();
  EXPECT_TRUE(judge(evidence).findings.empty());
}

// The growth of a cache is confirmed. A short recording, or a few samples, show which task holds most of its objects.
TEST(Investigation, TheLargestHolderOfAGrowingCacheIsLikely) {
  for (const bool recorded : {true, false}) {
    InvestigationEvidence evidence = evidence_with_noise(7);
    const double part = recorded ? 0.02 : 1;  // the recording's share of the whole time
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
    groups.back().bytes = 7'000;  // from now on, no task holds most of the cache
    groups.back().task = "leaky too";
    groups.push_back(groups.back());
    groups.back().task = "third";
    EXPECT_TRUE(std::ranges::none_of(
        judge(evidence).findings, [](const GrowthFinding& finding) { return finding.certainty != Certainty::weak; }));
  }
}

// A cache that started to grow late. The growth has a rate, but no confidence interval. Samples show which task holds
// most of the cache's objects.
TEST(Investigation, TheLargestHolderOfLateGrowthIsLikely) {
  InvestigationEvidence evidence = evidence_with_noise(7);
  evidence.trace.reset();
  evidence.samples->groups.push_back(
      group_of(kPipe, "key_jar", "leaky", 4321, [](double s) { return s < kSeconds / 2 ? 0 : 8'000; }));
  evidence.states.push_back(
      cache_series("key_jar", [](double s) { return 2 * kRate * std::max(s - kSeconds / 2, 0.0); }));
  const Judgement judgement = judge(evidence);
  const auto state = std::ranges::find(judgement.states, "key_jar", &StateGrowth::name);
  ASSERT_NE(state, judgement.states.end());
  ASSERT_FALSE(state->sure);
  ASSERT_TRUE(state->late && state->late->sure);
  const GrowthFinding& first = judgement.findings.front();
  EXPECT_EQ(first.certainty, Certainty::likely);
  EXPECT_EQ(first.processes.front().process, 4321u);
  EXPECT_EQ(first.trend.bytes_per_s, state->late->bytes_per_s);
  EXPECT_EQ(first.trend.low, first.trend.bytes_per_s);
  EXPECT_EQ(first.trend.high, first.trend.bytes_per_s);
}

// The setup of a recording temporarily allocates memory from caches that other code uses too. This must not hide growth
// of these caches.
TEST(Investigation, MemoryOfTheRecordingHidesNoGrowth) {
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
    // The values for the plot still contain the peak.
    EXPECT_GT(*std::ranges::max_element(state->values), state->last);
  }
}

// Samples cannot distinguish kmalloc caches of the same size. Noise in one of these caches must not hide the growth of
// another.
TEST(Investigation, OnlyTheGrowingCacheOfASizeIsJudged) {
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

// Objects that live longer than the recording look like growth in the recording, but not in the samples.
TEST(Investigation, LongLivedObjectsAreNoGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(3);
  evidence.trace->groups.push_back(group_of(kPipe, "kmalloc-1k", "server", 77, steady));
  EXPECT_FALSE(judge(evidence).found());  // there are no samples from before the recording
  evidence = evidence_with_noise(3);
  plant(evidence);
  evidence.states[1] = cache_series("kmalloc-cg-1k", [](double) { return 0; });
  evidence.states[0] = cache_series("filp", [](double) { return 0; });
  EXPECT_FALSE(judge(evidence).found());  // other tasks free as much memory as the growth adds
}

// Samples without growth contradict a recording. If the samples ended long before the recording, they do not: growth
// may have started later.
TEST(Investigation, SamplesThatEndedEarlyDoNotContradictTheRecording) {
  InvestigationEvidence evidence = evidence_with_noise(3);
  plant(evidence);
  std::erase_if(evidence.samples->groups, [](const GrowthGroup& group) { return group.task == "leaky"; });
  EXPECT_FALSE(judge(evidence).found());
  evidence.trace_begin_seconds = 3 * kSeconds;
  evidence.seconds = 4 * kSeconds;
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  EXPECT_EQ(judgement.findings.front().task, "leaky");
}

TEST(Investigation, PagesDoNotExplainSlabs) {
  for (const std::string cache : {"percpu memory", "vmalloc areas", "kmalloc-1k"}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
      seen->groups.push_back(group_of(kPipe, cache, "leaky", 4321, steady));
    evidence.states.push_back(cache_series("SUnreclaim", steady));
    evidence.states.back().source = MemorySource::meminfo;
    evidence.states.push_back(cache_series("kmalloc-1k", steady));
    const Judgement judgement = judge(evidence);
    ASSERT_FALSE(judgement.findings.empty());
    ASSERT_NE(judgement.findings.front().certainty, Certainty::weak);
    const auto slabs = std::ranges::find(judgement.states, "SUnreclaim", &StateGrowth::name);
    ASSERT_NE(slabs, judgement.states.end());
    EXPECT_EQ(slabs->explained_bytes_per_s > 0, cache == "kmalloc-1k") << cache;
  }
}

// The accounting data of dentry slabs is in an unreclaimable cache, but is freed with the dentries.
TEST(Investigation, AccountingDataOfReclaimableSlabsIsReclaimable) {
  for (const bool is_accounting : {true, false}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    const std::vector<std::string> stack =
        is_accounting ? std::vector<std::string>{"alloc_slab_obj_exts+0x40", "__d_alloc+0x22", "lookup_one+0x9"}
                      : kPipe;
    for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
      seen->groups.push_back(group_of(stack, "kmalloc-192", "stat", 4321, steady));
      seen->groups.back().excluded = true;
    }
    for (const char* const name : {"kmalloc-192", "SUnreclaim"}) evidence.states.push_back(cache_series(name, steady));
    evidence.states.back().source = MemorySource::meminfo;
    const Judgement judgement = judge(evidence);
    for (const char* const name : {"kmalloc-192", "SUnreclaim"}) {
      const auto state = std::ranges::find(judgement.states, name, &StateGrowth::name);
      ASSERT_NE(state, judgement.states.end());
      EXPECT_EQ(state->reclaimable, is_accounting) << name;
      EXPECT_EQ(state->sure, !is_accounting) << name;
    }
  }
}

// Inodes are allocated at the same time, but a confirmed finding explains the growth of SUnreclaim.
TEST(Investigation, ExplainedGrowthIsNotReclaimable) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  evidence.states.push_back(cache_series("SUnreclaim", steady));
  evidence.states.back().source = MemorySource::meminfo;
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
    seen->groups.push_back(group_of({"alloc_inode+0x40", "new_inode+0x9"}, "kmalloc-512", "stat", 7, steady));
    seen->groups.back().excluded = true;
  }
  const auto is_reclaimable = [&] {
    const Judgement judgement = judge(evidence);
    const auto state = std::ranges::find(judgement.states, "SUnreclaim", &StateGrowth::name);
    return state != judgement.states.end() && state->reclaimable;
  };
  ASSERT_TRUE(judge(evidence).found());
  EXPECT_FALSE(is_reclaimable());
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    std::erase_if(seen->groups, [](const GrowthGroup& group) { return group.task == "leaky"; });
  EXPECT_TRUE(is_reclaimable());
}

// The frees of some objects have no tracepoint, so their call sites are not judged. The kernel's counters are.
TEST(Investigation, NamesTheCallSiteThatIsNotTested) {
  for (const double share : {1.0, 0.2}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
      seen->groups.push_back(group_of({"__alloc_skb+0x147", "sock_alloc_send_pskb+0x9"}, "skbuff_head_cache", "sockq",
                                      7, [share](double seconds) { return share * steady(seconds); }));
      seen->groups.back().excluded = true;
    }
    evidence.states.push_back(cache_series("skbuff_head_cache", steady));
    const Judgement judgement = judge(evidence);
    const auto state = std::ranges::find(judgement.states, "skbuff_head_cache", &StateGrowth::name);
    ASSERT_NE(state, judgement.states.end());
    EXPECT_TRUE(state->sure);
    EXPECT_EQ(state->untested_site, share == 1.0 ? "__alloc_skb+0x147" : "");
  }
}

TEST(Investigation, MentionsALargeRiseOfShmem) {
  for (const double mib : {180.0, 20.0}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    evidence.states.push_back(
        cache_series("Shmem", [mib](double seconds) { return mib * (1 << 20) * seconds / (kSeconds - kStepSeconds); }));
    evidence.states.back().source = MemorySource::meminfo;
    InvestigationResult result;
    result.seconds = evidence.seconds;
    result.judgement = judge(evidence);
    const Concluded conclusion = concluded(result);
    EXPECT_EQ(conclusion.verdict, GrowthVerdict::no_growth) << conclusion.words;
    EXPECT_NE(conclusion.words.find("User memory (anonymous memory, page cache, Shmem) is not judged."),
              std::string::npos)
        << conclusion.words;
    EXPECT_EQ(conclusion.words.find("not judged) rose by 180.0 MiB, from 3.8 MiB to 183.8 MiB") != std::string::npos,
              mib > 100)
        << conclusion.words;
  }
}

// Without samples of accounting data, the number of slabs shows how much of a kmalloc cache's growth is such data.
TEST(Investigation, AccountingDataOfSlabsIsNoGrowthOfItsOwn) {
  for (const double share : {0.9, 0.3}) {
    InvestigationEvidence evidence = evidence_with_noise(1);
    for (const char* const name : {"kmalloc-192", "SUnreclaim"}) evidence.states.push_back(cache_series(name, steady));
    evidence.states.back().source = MemorySource::meminfo;
    for (const char* const name : {"kmalloc-192", "SUnreclaim"}) {
      evidence.states.push_back(cache_series(name, [share](double seconds) { return share * steady(seconds); }));
      evidence.states.back().source = MemorySource::slab_extensions;
    }
    const Judgement judgement = judge(evidence);
    for (const char* const name : {"kmalloc-192", "SUnreclaim"}) {
      const auto state = std::ranges::find(judgement.states, name, &StateGrowth::name);
      ASSERT_NE(state, judgement.states.end());
      EXPECT_EQ(state->is_slab_accounting, share > 0.5) << name;
      EXPECT_EQ(state->sure, share < 0.5) << name;
    }
  }
}

// The cache rises all the time, or only in the second half. If sheaves may hold all of the rise, it is not growth.
TEST(Investigation, ObjectsInSheavesAreNoGrowth) {
  const auto late = [](double seconds) { return kRate * std::max(seconds - kSeconds / 2, 0.0); };
  for (const Course& course : {Course(steady), Course(late)}) {
    const double rise = course(kSeconds);
    for (const double most : {1.1 * rise, 0.5 * rise}) {
      InvestigationEvidence evidence = evidence_with_noise(1);
      for (const char* const name : {"kmalloc-192", "SUnreclaim"})
        evidence.states.push_back(cache_series(name, course));
      evidence.states.back().source = MemorySource::meminfo;
      evidence.states.push_back({MemorySource::slab_sheaves, "kmalloc-192", {{0, most}}});
      const Judgement judgement = judge(evidence);
      for (const char* const name : {"kmalloc-192", "SUnreclaim"}) {
        const auto state = std::ranges::find(judgement.states, name, &StateGrowth::name);
        ASSERT_NE(state, judgement.states.end());
        EXPECT_EQ(state->may_be_in_sheaves, most > rise) << name;
        EXPECT_EQ(state->sure || state->late, most < rise) << name;
      }
    }
  }
}

TEST(Investigation, ExcludedGroupsAreNotJudged) {
  InvestigationEvidence evidence = evidence_with_noise(4);
  plant(evidence);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    for (GrowthGroup& group : seen->groups)
      if (group.task == "leaky") group.excluded = true;
  const Judgement judgement = judge(evidence);
  EXPECT_FALSE(judgement.found());
  EXPECT_GT(judgement.excluded_bytes, kRate * kSeconds);
}

TEST(Investigation, RecordingsWithoutStacksUseThoseOfSamples) {
  InvestigationEvidence evidence = evidence_with_noise(6);
  plant(evidence);
  // Another process with the same name opens and closes files.
  std::vector<std::string> open = {kPipeFile.front(), "path_openat+0x40", "__x64_sys_openat+0x5d"};
  evidence.samples->groups.push_back(group_of(open, "filp", "leaky", 99, [](double) { return 10 * kRate * kSeconds; }));
  for (GrowthGroup& group : evidence.trace->groups) group.stack.resize(1);
  const Judgement judgement = judge(evidence);
  ASSERT_TRUE(judgement.found());
  EXPECT_EQ(judgement.findings.front().function, "create_pipe_files");
  EXPECT_EQ(judgement.findings.front().sites.front().stack, kPipe);
}

// For a third of the time, the kernel's counters were not read, because the recording was being set up.
TEST(Investigation, UnevenTimesOfStatesDoNotHideSteadyGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  MemorySeries series = cache_series("VmallocUsed", steady);
  series.source = MemorySource::meminfo;
  const std::size_t third = series.points.size() / 3;
  series.points.erase(series.points.begin() + static_cast<std::ptrdiff_t>(third),
                      series.points.begin() + static_cast<std::ptrdiff_t>(2 * third));
  evidence.states.push_back(series);
  const std::vector<StateGrowth> states = judge(evidence).states;
  const auto found = std::ranges::find(states, "VmallocUsed", &StateGrowth::name);
  ASSERT_NE(found, states.end());
  EXPECT_TRUE(found->sure);
}

// Messages of System V queues have separate kmalloc caches (slab buckets), which the kmalloc event does not show.
TEST(Investigation, SlabBucketsCountAsKmallocCaches) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  evidence.states.push_back(cache_series("msg_msg-1k", steady));
  const std::vector<StateGrowth> states = judge(evidence).states;
  EXPECT_NE(std::ranges::find(states, "kmalloc-1k", &StateGrowth::name), states.end());
}

// If a short recording contains no object of the growing group, this must not contradict samples of the whole time.
TEST(Investigation, ShortRecordingsDoNotContradictSamples) {
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

// If only slab objects were sampled, samples cannot confirm growth of pages. So they must not contradict it.
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

// Pages of vmalloc areas have different orders, so the event filter of the recording cannot list them.
TEST(Investigation, RecordedVmallocAreasAreNotAlsoEstimated) {
  InvestigationEvidence evidence = evidence_with_noise(8);
  evidence.samples->pages = true;
  evidence.narrowing.orders = {0};
  const std::vector<std::string> stack = {"__bpf_map_area_alloc+0x1", "array_map_alloc+0x1", "__x64_sys_bpf+0x1f"};
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
    seen->groups.push_back(group_of(stack, "vmalloc areas", "leaky", 4321, steady));
    seen->groups.push_back(group_of(stack, "pages of order 0", "leaky", 4321, steady));
  }
  const GrowthFinding first = judge(evidence).findings.front();
  ASSERT_EQ(first.sites.size(), 2u);
  EXPECT_EQ(std::ranges::count(first.sites, true, &FindingSite::estimated), 0);
  EXPECT_NEAR(first.sites[0].bytes + first.sites[1].bytes, 2 * kRate * kSeconds, kRate);
}

TEST(Investigation, VmallocAreasExplainVmallocUsed) {
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

}  // namespace
}  // namespace kmt::planted
