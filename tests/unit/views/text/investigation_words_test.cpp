// SPDX-License-Identifier: GPL-2.0-or-later
// Tests sentences about growth, and the suggested commands.
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "results/series/thresholds.hpp"
#include "support/investigation_evidence.hpp"
#include "views/common/conclusion.hpp"
#include "views/common/next_commands.hpp"
#include "views/json/investigation.hpp"
#include "views/text/investigation.hpp"

namespace kmt::planted {
namespace {

TEST(InvestigationWords, NamesOtherGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  evidence.states.push_back(cache_series("key_jar", [](double s) { return steady(s) / 2; }));
  evidence.states.push_back(cache_series("lsm_file_cache", [](double s) { return steady(s) / 20; }));
  InvestigationResult result;
  result.judgement = judge(evidence);
  const std::string words = concluded(result).words;
  EXPECT_NE(words.find("Also confirmed, mostly unexplained: the slab cache key_jar by 97.7 KiB/s"), std::string::npos)
      << words;
  // These objects are allocated together with files, so their growth is not listed separately.
  EXPECT_EQ(words.find("lsm_file_cache"), std::string::npos) << words;
}

TEST(InvestigationWords, NegativeSizesAreShown) {
  InvestigationResult result;
  StateGrowth& state = result.judgement.states.emplace_back();
  state.name = kUnaccounted;
  state.first = -89.3 * (1 << 20);
  state.last = 10.8 * (1 << 20);
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("unaccounted memory  -89.3 MiB  10.8 MiB  +100.1 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("Unaccounted memory is negative"), std::string::npos) << text;
}

TEST(InvestigationWords, NamesMergedCaches) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  evidence.states.push_back(cache_series("sigqueue", steady));
  InvestigationResult result;
  result.judgement = judge(evidence);
  SnapshotResult snapshot;
  snapshot.caches.resize(1);
  snapshot.caches[0].name = "sigqueue";
  snapshot.caches[0].aliases = {"inotify_inode_mark", "dnotify_mark"};
  add_names(snapshot, result.judgement);
  const std::string words = concluded(result).words;
  EXPECT_NE(words.find("sigqueue (merged with inotify_inode_mark, dnotify_mark) by"), std::string::npos) << words;
}

// Each task also has a kernel stack, which has no allocation events.
TEST(InvestigationWords, MentionsKernelStacksOfTasks) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    seen->groups.push_back(group_of(kPipe, "task_struct", "leaky", 4321, steady));
  evidence.states.push_back(cache_series("task_struct", steady));
  evidence.states.push_back(cache_series("KernelStack", [](double s) { return 4 * steady(s); }));
  evidence.states.back().source = MemorySource::meminfo;
  InvestigationResult result;
  result.judgement = judge(evidence);
  const std::string words = concluded(result).words;
  EXPECT_NE(words.find("KernelStack grows by 781.2 KiB/s"), std::string::npos) << words;
}

TEST(InvestigationWords, SuggestsOnlyCommandsThatWork) {
  InvestigationResult result;
  result.judgement.findings = {sure_finding("do_pipe2.isra.0", 4321), sure_finding("x;reboot", 4321)};
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
  result.cost.reset();  // the result is now from copied files of another kernel
  result.files = {{"summary.json", ""}};
  EXPECT_EQ(next_commands(result), std::vector<std::string>());
}

TEST(InvestigationWords, SuggestsCommandsForTheHeldObjects) {
  InvestigationResult result;
  result.cost.emplace();
  result.no_calls = true;
  GrowthFinding& finding = result.judgement.findings.emplace_back(sure_finding("__key_create_or_update", 4321));
  finding.entry = "__x64_sys_add_key";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"cat /proc/keys"}));
  finding.entry = "__x64_sys_msgsnd";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"nsenter -t 4321 -i cat /proc/sysvipc/msg"}));
  finding.entry = "__x64_sys_mprotect";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"tail /proc/4321/maps"}));
  finding.entry = "__x64_sys_clone3";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"ps -L -p 4321 --ppid 4321 -o pid,lwp,stat,comm | tail"}));
  finding.entry = "__x64_sys_inotify_add_watch";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"grep -rc ^inotify /proc/4321/fdinfo | grep -v :0$"}));
  finding.entry = "__x64_sys_bpf";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"grep -r memlock /proc/4321/fdinfo"}));
  finding.entry = "__x64_sys_mkdir";
  finding.function = "cgroup_mkdir";
  EXPECT_EQ(next_commands(result), (std::vector<std::string>{"cat /proc/cgroups"}));
}

TEST(InvestigationWords, SuggestsObjectsOnlyIfTheyCanBeSampled) {
  InvestigationResult result;
  result.cost.emplace();
  result.large_caches.push_back({"maple_node", 1 << 20, 0.01, CacheGrowth::unexplained, {}});
  const std::string command = "kmemtrace snapshot --objects maple_node";
  const auto suggests = [&] {
    const std::vector<std::string> commands = next_commands(result);
    return std::ranges::find(commands, command) != commands.end();
  };
  EXPECT_TRUE(suggests());
  result.no_objects = true;
  EXPECT_FALSE(suggests());
}

// The recording of an investigation is short, so `leaks` might show no growth in it.
TEST(InvestigationWords, SuggestsLeaksOnlyIfTheRecordingConfirmsGrowth) {
  InvestigationResult result;
  result.watched = true;
  result.cost.emplace();
  result.no_calls = true;
  result.folder = "out";
  result.files = {{"trace.kmt", ""}};
  EXPECT_EQ(next_commands(result), std::vector<std::string>());
  result.judgement.findings = {sure_finding("do_pipe2", 4321)};
  result.judgement.findings.front().exact = true;
  EXPECT_EQ(next_commands(result),
            (std::vector<std::string>{"ls -l /proc/4321/fd | tail", "kmemtrace leaks out/trace.kmt"}));
}

TEST(InvestigationWords, NamesThreadsInTheRowOfTheirProcess) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  evidence.samples->groups.back().thread = "worker-1";
  InvestigationResult result;
  result.judgement = judge(evidence);
  EXPECT_EQ(result.judgement.findings.front().processes.front().threads, std::vector<std::string>{"worker-1"});
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("leaky (pid 4321), threads worker-1"), std::string::npos) << text;
}

TEST(InvestigationWords, AProcessWithoutANameHasItsNumber) {
  EXPECT_EQ(process_words(FindingProcess{.task = "sh", .process = 7}), "sh (pid 7)");
  EXPECT_EQ(process_words(FindingProcess{.process = 7}), "process 7");
  EXPECT_EQ(process_words(FindingProcess{.process = 7, .ended = true}), "process 7, ended");
}

TEST(InvestigationWords, StartsWithTheAnswerAndCommandsOnOneLine) {
  InvestigationResult result;
  result.judgement.findings = {sure_finding("do_pipe2", 4321)};
  result.conclusion = conclude(result);
  result.folder = "out";
  result.files = {{"before.kmt", "a snapshot"}, {"after.kmt", "another"}};
  const std::string command = "kmemtrace diff " + std::string(60, 'a') + " " + std::string(60, 'b');
  result.next = {command};
  const std::string text = text_investigation(result, {.width = 80});
  const std::string start = text.substr(0, text.find("\n1. "));
  EXPECT_NE(start.find("do_pipe2"), std::string::npos) << start;
  EXPECT_NE(start.find("(pid 4321)"), std::string::npos) << start;
  EXPECT_TRUE(start.ends_with(command + "\n")) << start;
  EXPECT_EQ(text.find("out/"), text.rfind("out/")) << text;  // the folder is mentioned once
}

TEST(InvestigationWords, SharesAddUpToAtMostTheWhole) {
  InvestigationResult result;
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  finding.call_site = "take+0x1";
  finding.bytes = 100 << 10;  // recorded bytes only; bytes of caches that were not recorded are estimated and added
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
  EXPECT_EQ(text.find("A line counts as fully explained"), std::string::npos) << text;
  state.explained_bytes_per_s = 3000;
  text = text_investigation(result, {});
  EXPECT_EQ(text.find("300%"), std::string::npos) << text;
  EXPECT_NE(text.find("A line counts as fully explained"), std::string::npos) << text;
}

TEST(InvestigationWords, NamesMachineAndTime) {
  InvestigationResult result;
  result.kernel = "6.1.0";
  result.machine = "s390x";
  result.seconds = 120;
  const auto first_line = [&] {
    const std::string text = text_investigation(result, {});
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line(), "What grows in the kernel's memory, Linux 6.1.0 s390x, watched for 2 min 0 s");
  result.host = "red\x1b[31m";
  result.start_unix_ns = 1'700'000'000'000'000'000;
  EXPECT_EQ(
      first_line(),
      "What grows in the kernel's memory, Linux 6.1.0 s390x on red\\x1b[31m, watched for 2 min 0 s from 2023-11-14 "
      "22:13:20 UTC");
}

TEST(InvestigationWords, StatesThatTheBudgetWasExceeded) {
  InvestigationResult result;
  result.seconds = 120;
  InvestigationCost& cost = result.cost.emplace();
  cost.cpu_seconds = 2;
  cost.most_cpu_seconds = 2.4;
  cost.cpu_share = 0.01;
  cost.cpus = 2;
  const auto is_reported = [&] {
    return text_investigation(result, {}).find("exceeds the budget of 2.4 s") != std::string::npos;
  };
  EXPECT_FALSE(is_reported());
  cost.kernel_cpu_seconds = 1;
  EXPECT_TRUE(is_reported());
}

// If a cache was not recorded, its numbers are from samples.
TEST(InvestigationWords, MarksEstimatesNextToRecordedBytes) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  plant(evidence);
  evidence.narrowing.sizes = {1024};
  std::erase_if(evidence.trace->groups, [](const GrowthGroup& group) { return group.cache == "filp"; });
  InvestigationResult result;
  result.judgement = judge(evidence);
  const std::vector<FindingSite>& sites = result.judgement.findings.front().sites;
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[0].cache, "kmalloc-1k");
  EXPECT_FALSE(sites[0].estimated);
  EXPECT_TRUE(sites[1].estimated);
  const std::string text = text_investigation(result, {});
  EXPECT_NE(text.find("1. at least +"), std::string::npos) << text;
  EXPECT_NE(text.find(" in caches that were not recorded"), std::string::npos) << text;
  const auto row_of = [&text](const std::string& begin) {
    const std::size_t at = text.find("\n  " + begin, text.find("\n  Call site "));
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at);
  };
  EXPECT_NE(row_of("alloc_empty_file+0x41").find("~"), std::string::npos) << text;
  EXPECT_EQ(row_of("alloc_pipe_info+0x52").find("~"), std::string::npos) << text;
}

// The texts may come from an evidence.json that another user wrote, so control characters must not reach the terminal.
TEST(InvestigationWords, EscapesTheReasonOfTheEnd) {
  InvestigationResult result;
  result.complete = false;
  result.cut_short = "\x1b[31mred";
  for (const std::string& text : {text_investigation(result, {}), json_investigation(result)}) {
    EXPECT_NE(text.find("[31mred"), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("u001b"), std::string::npos) << text;
  }
}

InvestigationResult result_of(const InvestigationEvidence& evidence, double seconds) {
  InvestigationResult result;
  result.seconds = seconds;
  result.watched = true;
  result.cost.emplace();
  result.judgement = judge(evidence);
  return result;
}

TEST(InvestigationWords, HasThreeVerdicts) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  EXPECT_EQ(conclude(result_of(evidence, 30)).verdict, GrowthVerdict::no_growth);
  InvestigationResult result = result_of(evidence, 4);
  result.cut_short = "it was interrupted";
  const Concluded early = concluded(result);
  EXPECT_EQ(early.verdict, GrowthVerdict::cannot_tell);
  EXPECT_NE(early.words.find("it was interrupted"), std::string::npos);
  plant(evidence);
  EXPECT_EQ(conclude(result_of(evidence, 4)).verdict, GrowthVerdict::grows);
}

TEST(InvestigationWords, GrowthWithoutACallSiteIsReported) {
  InvestigationEvidence evidence = evidence_with_noise(9);
  evidence.states.push_back(cache_series("SUnreclaim", steady));
  evidence.states.back().source = MemorySource::meminfo;
  // SUnreclaim grows, but no cache does. Then slabs have more free space, or the growth is reclaimable.
  EXPECT_EQ(conclude(result_of(evidence, 30)).verdict, GrowthVerdict::no_growth);
  evidence.states.push_back(cache_series("key_jar", [](double s) { return 0.8 * steady(s); }));
  const InvestigationResult result = result_of(evidence, 30);
  EXPECT_FALSE(result.judgement.found());
  const Concluded conclusion = concluded(result);
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::grows);
  EXPECT_NE(conclusion.words.find("SUnreclaim by 195.3 KiB/s"), std::string::npos) << conclusion.words;
  const auto next = next_commands(result);
  EXPECT_EQ(next.empty(), false);
}

// Without slabinfo, samples and a recording, only sums like SUnreclaim are known. These cannot rule out growth.
TEST(InvestigationWords, SumsAloneDoNotRuleOutGrowth) {
  InvestigationEvidence evidence;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  evidence.states.push_back(cache_series("SUnreclaim", [](double) { return 0; }));
  evidence.states.back().source = MemorySource::meminfo;
  EXPECT_EQ(conclude(result_of(evidence, 30)).verdict, GrowthVerdict::cannot_tell);
  evidence.states.back() = cache_series("SUnreclaim", steady);
  evidence.states.back().source = MemorySource::meminfo;
  const Concluded conclusion = concluded(result_of(evidence, 30));
  EXPECT_EQ(conclusion.verdict, GrowthVerdict::grows);
  EXPECT_NE(conclusion.words.find("could not be traced"), std::string::npos) << conclusion.words;
}

TEST(InvestigationWords, LongWaitsHaveASection) {
  InvestigationResult result;
  EXPECT_EQ(text_investigation(result, {}).find("waited"), std::string::npos);
  result.waits.some_share = 0.075;
  const std::string low = text_investigation(result, {});
  EXPECT_NE(low.find("at least one task waited for memory during 7.5%"), std::string::npos) << low;
  EXPECT_EQ(low.find("Waits for memory"), std::string::npos) << low;
  // the verdict decides, not the share
  result.waits.are_long = true;
  const std::string high = text_investigation(result, {});
  EXPECT_NE(high.find("Waits for memory"), std::string::npos) << high;
  EXPECT_NE(high.find("kmemtrace record --stalls"), std::string::npos) << high;
  EXPECT_NE(json_investigation(result).find("\"are_long\""), std::string::npos);
}

TEST(InvestigationWords, NamesTheLongestWaiterOfTheRecording) {
  InvestigationResult result;
  WaitSums sums;
  sums.waits = 3;
  sums.total_ns = 4'000'000'000;
  sums.own_ns[static_cast<std::size_t>(StallKind::compaction)] = 1'000'000'000;
  result.waits.recorded = sums;
  sums.waits = 2;
  sums.total_ns = 3'000'000'000;
  result.waits.processes = {{"dd\x1b", sums}};
  const std::string text = text_investigation(result, {});
  std::string words;  // the text without line breaks
  for (const char letter : text)
    if (letter != ' ' && letter != '\n')
      words += letter;
    else if (!words.ends_with(' '))
      words += ' ';
  EXPECT_NE(words.find("in the recording, tasks waited 4.000 s in 3 waits, 1.000 s of it in compaction; dd"),
            std::string::npos)
      << words;
  EXPECT_NE(words.find("waited longest, 3.000 s"), std::string::npos) << words;
  EXPECT_EQ(words.find('\x1b'), std::string::npos) << words;
  // no task waited
  result.waits.recorded = WaitSums{};
  result.waits.processes.clear();
  EXPECT_EQ(text_investigation(result, {}).find("tasks waited"), std::string::npos);
}

}  // namespace
}  // namespace kmt::planted
