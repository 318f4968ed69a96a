// SPDX-License-Identifier: GPL-2.0-or-later
// Tests growth that is only a growing number of processes, and processes that have ended.
#include <algorithm>

#include <gtest/gtest.h>

#include "analysis/growth/investigation.hpp"
#include "support/investigation_evidence.hpp"
#include "views/common/next_commands.hpp"
#include "views/text/investigation.hpp"

namespace kmt::planted {
namespace {

constexpr std::uint32_t kProcesses = 32;
constexpr std::uint32_t kFirst = 1000;

// Returns evidence of a program that runs again and again. Each process allocates its memory when it starts, and the
// memory stays.
InvestigationEvidence evidence_of_processes() {
  InvestigationEvidence evidence = evidence_with_noise(1);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    for (std::uint32_t i = 0; i < kProcesses; ++i)
      seen->groups.push_back(group_of(kPipe, "kmalloc-1k", "short", kFirst + i, [i](double seconds) {
        return seconds >= kSeconds * i / kProcesses ? kRate * kSeconds / kProcesses : 0;
      }));
  evidence.states.push_back(cache_series("kmalloc-1k", steady));
  return evidence;
}

const GrowthFinding* finding_in(const Judgement& judgement) {
  const auto found = std::ranges::find(judgement.findings, "do_pipe2", &GrowthFinding::function);
  const auto by_call_site = std::ranges::find(judgement.findings, "alloc_pipe_info+0x52", &GrowthFinding::call_site);
  return found != judgement.findings.end()          ? &*found
         : by_call_site != judgement.findings.end() ? &*by_call_site
                                                    : nullptr;
}

TEST(Holders, MemoryOfEndedProcessesIsALeak) {
  InvestigationEvidence evidence = evidence_of_processes();
  evidence.running = {{1, false}};
  InvestigationResult result;
  result.judgement = judge(evidence);
  const GrowthFinding* const finding = finding_in(result.judgement);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->certainty, Certainty::sure);
  EXPECT_EQ(finding->process_count, kProcesses);
  EXPECT_TRUE(finding->all_processes_ended());
  EXPECT_NE(concluded(result).words.find("short (32 processes, all ended)"), std::string::npos)
      << concluded(result).words;
  result.cost.emplace();
  for (const std::string& command : next_commands(result)) EXPECT_EQ(command.find("/proc/10"), std::string::npos);
}

TEST(Holders, MemoryOfNewRunningProcessesIsNotConfirmed) {
  InvestigationEvidence evidence = evidence_of_processes();
  evidence.running.emplace();
  for (std::uint32_t i = 0; i < kProcesses; ++i) evidence.running->emplace(kFirst + i, true);
  const Judgement judgement = judge(evidence);
  EXPECT_FALSE(judgement.found());
  EXPECT_TRUE(std::ranges::none_of(judgement.states, &StateGrowth::sure));
  // The processes existed before the investigation, like servers, so they caused the growth.
  for (auto& [process, is_new] : *evidence.running) is_new = false;
  EXPECT_TRUE(judge(evidence).found());
}

// The processes started recently, but each of them takes more and more memory.
TEST(Holders, GrowthOfNewProcessesIsConfirmed) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  evidence.running.emplace();
  for (std::uint32_t i = 0; i < kProcesses; ++i) evidence.running->emplace(kFirst + i, true);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    for (std::uint32_t i = 0; i < kProcesses; ++i)
      seen->groups.push_back(group_of(kPipe, "kmalloc-1k", "short", kFirst + i,
                                      [](double seconds) { return steady(seconds) / kProcesses; }));
  evidence.states.push_back(cache_series("kmalloc-1k", steady));
  EXPECT_TRUE(judge(evidence).found());
}

// Objects live for half of the investigation. The recording of the second half starts without live objects and sees a
// rise, but the cache stays level.
TEST(Holders, AFlatCounterInTheTimeOfTheRecordingContradictsGrowth) {
  InvestigationEvidence evidence = evidence_with_noise(1);
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace})
    seen->groups.push_back(group_of(kPipe, "kmalloc-1k", "server", 7, steady));
  evidence.states.push_back(
      cache_series("kmalloc-1k", [](double seconds) { return steady(std::min(seconds, kSeconds / 2)); }));
  const Judgement judgement = judge(evidence);
  EXPECT_FALSE(judgement.found());
  const GrowthFinding* const finding = finding_in(judgement);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->certainty, Certainty::weak);
}

TEST(Holders, TheTextHasAtMost60Lines) {
  InvestigationResult result;
  for (int i = 0; i < 9; ++i) {
    GrowthFinding& finding = result.judgement.findings.emplace_back();
    finding.certainty = Certainty::sure;
    finding.reasons.resize(5);
    finding.call_site = "alloc_pipe_info+0x52";
    for (std::uint32_t row = 0; row < 12; ++row) {
      finding.processes.push_back({"short", kFirst + row, "/a", {}, 1, 1000});
      finding.sites.push_back({"alloc_pipe_info+0x52", kPipe, "kmalloc-1k", 1, 1000});
      finding.caches.push_back({"kmalloc-1k", "kmalloc-1k", 1000, 1000, {}, {}, {}});
    }
    finding.process_count = 12;
  }
  result.unseen.resize(20, {"samples of pages", "the budget was used", "raise --cpu"});
  result.judgement.followed = 1;
  const std::string text = text_investigation(result, {.width = 80});
  EXPECT_LE(std::ranges::count(text, '\n'), 60) << text;
}

}  // namespace
}  // namespace kmt::planted
