// SPDX-License-Identifier: GPL-2.0-or-later
// Tests which cgroups an investigation names for growth, and what it reports if the cgroups are unknown.
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "base/temporary_folder.hpp"
#include "cli/investigate/evidence.hpp"
#include "results/series/thresholds.hpp"
#include "views/common/unseen_sources.hpp"

namespace kmt {
namespace {

constexpr std::size_t kSteps = 64;
constexpr double kStepSeconds = 0.25;
constexpr std::uint32_t kHolder = 4321;

// Returns evidence of a recording in which one process uses more and more memory, and of kernel counters that grow by
// the same amount.
InvestigationEvidence recorded(const std::string& cgroup) {
  InvestigationEvidence evidence;
  evidence.seconds = kSteps * kStepSeconds;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
  GrowthSeen& trace = evidence.trace.emplace();
  trace.step_seconds = kStepSeconds;
  trace.steps = kSteps;
  GrowthGroup& group = trace.groups.emplace_back();
  group.stack = {"take+0x1", "__x64_sys_take+0x2"};
  group.cache = "kmalloc-1k";
  group.task = "holder";
  group.process = kHolder;
  group.cgroup = cgroup;
  MemorySeries& cache = evidence.states.emplace_back(MemorySeries{MemorySource::slabinfo_objects, "kmalloc-1k", {}});
  for (std::size_t i = 0; i < kSteps; ++i) {
    group.live.push_back(50'000 * static_cast<double>(i + 1));
    cache.points.push_back({i * 250'000'000, 4e6 + group.live.back()});
  }
  group.bytes = group.live.back();
  group.objects = group.bytes / 1024;
  group.seen = 3125;
  return evidence;
}

std::string cgroup_found(const InvestigationEvidence& evidence) {
  const Judgement judgement = judge(evidence);
  if (judgement.findings.empty()) return "nothing was found";
  return judgement.findings.front().processes.front().cgroup;
}

// Returns the evidence as `investigate --from` reads it: saved data, and a recording that is read again.
InvestigationEvidence kept(const InvestigationEvidence& evidence) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/evidence.json";
  std::ofstream(path) << json_evidence({}, evidence);
  InvestigationResult result;
  InvestigationEvidence again;
  read_evidence(path, result, again);
  again.trace = evidence.trace;
  return again;
}

TEST(InvestigationCgroups, CgroupsOfVersion1AreUsed) {
  InvestigationEvidence evidence = recorded("/");
  evidence.memory_cgroups = MemoryCgroups{{kHolder, "/db"}, {7, "/other"}};
  EXPECT_EQ(cgroup_found(evidence), "/db");
  EXPECT_EQ(cgroup_found(kept(evidence)), "/db");
}

TEST(InvestigationCgroups, TheRootOfVersion2IsIgnoredIfVersion1AccountsMemory) {
  InvestigationEvidence evidence = recorded("/");
  evidence.memory_cgroups.emplace();  // the process does not exist any more
  EXPECT_EQ(cgroup_found(evidence), "");
  EXPECT_EQ(cgroup_found(kept(evidence)), "");
}

TEST(InvestigationCgroups, TheRootOfVersion2CountsIfItAccountsMemory) {
  EXPECT_EQ(cgroup_found(recorded("/")), "/");
  EXPECT_EQ(cgroup_found(kept(recorded("/"))), "/");
  EXPECT_EQ(cgroup_found(recorded("/system.slice")), "/system.slice");
}

std::string why_unknown(bool watched, std::uint32_t process, const std::string& cgroup) {
  InvestigationResult result;
  result.watched = watched;
  GrowthFinding& finding = result.judgement.findings.emplace_back();
  for (const std::string& one : {cgroup, cgroup}) {
    FindingProcess& of = finding.processes.emplace_back();
    of.process = process;
    of.cgroup = one;
  }
  const auto unseen = unknown_cgroups(result);
  return unseen ? unseen->why : "";
}

TEST(InvestigationCgroups, UnknownCgroupsAreStated) {
  EXPECT_FALSE(unknown_cgroups({}));
  EXPECT_EQ(why_unknown(true, 5, ""), "neither the samples nor the recording name cgroups");
  EXPECT_EQ(why_unknown(true, 5, "/"), "");
  EXPECT_EQ(why_unknown(true, 5, "/db"), "");
  EXPECT_EQ(why_unknown(false, 5, "/db"), "");
  EXPECT_NE(why_unknown(false, 5, "/").find("all processes in the root cgroup"), std::string::npos);
  EXPECT_EQ(why_unknown(false, 0, ""), "");  // process 0: memory allocated in interrupts
}

}  // namespace
}  // namespace kmt
