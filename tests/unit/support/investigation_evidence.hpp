// SPDX-License-Identifier: GPL-2.0-or-later
// Generates evidence for an investigation: noise, and growth that the investigation should find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/growth/conclusion.hpp"
#include "analysis/growth/investigation.hpp"
#include "results/series/thresholds.hpp"
#include "views/common/conclusion.hpp"

namespace kmt::planted {

inline constexpr std::size_t kSteps = 64;
inline constexpr double kStepSeconds = 0.25;
inline constexpr double kSeconds = kSteps * kStepSeconds;
inline constexpr double kRate = 200'000;  // rate of the added growth, in bytes per second

using Course = std::function<double(double seconds)>;

inline double steady(double seconds) { return kRate * seconds; }

inline GrowthGroup group_of(std::vector<std::string> stack, const std::string& cache, const std::string& task,
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

inline const std::vector<std::string> kPipe = {"alloc_pipe_info+0x52", "create_pipe_files+0x44",
                                               "do_pipe2+0x3c",        "__x64_sys_pipe2+0x14",
                                               "do_syscall_64+0x82",   "entry_SYSCALL_64_after_hwframe+0x76"};
inline const std::vector<std::string> kPipeFile = {"alloc_empty_file+0x41",
                                                   "alloc_file+0x2a",
                                                   "create_pipe_files+0x91",
                                                   "do_pipe2+0x3c",
                                                   "__x64_sys_pipe2+0x14",
                                                   "do_syscall_64+0x82",
                                                   "entry_SYSCALL_64_after_hwframe+0x76"};

// Generates noise: the live bytes of each group are a random walk, as if its task allocated and freed at random.
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

inline GrowthSeen empty_seen(std::uint64_t mean_bytes) {
  GrowthSeen seen;
  seen.step_seconds = kStepSeconds;
  seen.steps = kSteps;
  seen.mean_bytes = mean_bytes;
  return seen;
}

inline MemorySeries cache_series(const std::string& name, const Course& course) {
  MemorySeries series{MemorySource::slabinfo_objects, name, {}};
  for (std::size_t i = 0; i < kSteps; ++i) {
    const double seconds = static_cast<double>(i) * kStepSeconds;
    series.points.push_back({static_cast<std::uint64_t>(seconds * 1e9), 4'000'000 + course(seconds)});
  }
  return series;
}

// Returns evidence with samples, and with a recording of the same length after them.
inline InvestigationEvidence evidence_with_noise(unsigned seed) {
  InvestigationEvidence evidence;
  evidence.seconds = 2 * kSeconds;
  evidence.threshold_bytes_per_s = kThresholds.usual_bytes_per_s;
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

struct Concluded {
  GrowthVerdict verdict;
  std::string words;
};

inline Concluded concluded(InvestigationResult result) {
  result.conclusion = conclude(result);
  return {result.conclusion.verdict, conclusion_words(result)};
}

// Returns a finding about one process, without reasons.
inline GrowthFinding sure_finding(const std::string& function, std::uint32_t process, const std::string& cgroup = {}) {
  GrowthFinding finding;
  finding.certainty = Certainty::sure;
  finding.function = function;
  finding.processes.push_back({"leaky", process, cgroup, {}, 1, 1});
  return finding;
}

inline void plant(InvestigationEvidence& evidence) {
  for (GrowthSeen* const seen : {&*evidence.samples, &*evidence.trace}) {
    seen->groups.push_back(group_of(kPipe, "kmalloc-1k", "leaky", 4321, steady));
    seen->groups.push_back(group_of(kPipeFile, "filp", "leaky", 4321, [](double s) { return steady(s) / 3; }));
  }
  evidence.states[1] = cache_series("kmalloc-cg-1k", steady);
}

}  // namespace kmt::planted
