// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/holders.hpp"

#include <algorithm>
#include <map>

#include "analysis/growth/clusters.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

using GroupsByProcess = std::map<std::uint32_t, std::vector<const GrowthGroup*>>;

GroupsByProcess by_process(const std::vector<const GrowthGroup*>& groups) {
  GroupsByProcess processes;
  for (const GrowthGroup* const group : groups)
    if (group->process != 0) processes[group->process].push_back(group);
  return processes;
}

// True if a process allocated nearly all of its memory early: in the first half of the time since its first allocation.
bool is_settled(const std::vector<const GrowthGroup*>& groups) {
  std::size_t steps = 0;
  for (const GrowthGroup* const group : groups) steps = std::max(steps, group->live.size());
  const std::vector<double> live = sum_of(groups, steps);
  const auto first = std::ranges::find_if(live, [](double bytes) { return bytes > 0; });
  if (first == live.end()) return true;  // all memory of the process was allocated in the last, incomplete step
  const auto middle = first + (live.end() - first) / 2;
  return *middle >= kThresholds.settled_share * live.back();
}

}  // namespace

void add_process_counts(const InvestigationEvidence& evidence, const std::vector<const GrowthGroup*>& groups,
                        GrowthFinding& finding) {
  const GroupsByProcess processes = by_process(groups);
  finding.process_count = processes.size();
  if (!evidence.running) return;
  const auto has_ended = [&evidence](std::uint32_t process) { return !evidence.running->contains(process); };
  finding.ended_processes = static_cast<std::size_t>(
      std::ranges::count_if(processes, [&](const auto& process) { return has_ended(process.first); }));
  for (FindingProcess& process : finding.processes) process.ended = process.process != 0 && has_ended(process.process);
}

bool is_held_by_new_processes(const InvestigationEvidence& evidence, const std::vector<const GrowthGroup*>& groups) {
  if (!evidence.running) return false;
  const auto started = static_cast<std::size_t>(
      std::ranges::count_if(*evidence.running, [](const auto& process) { return process.second; }));
  if (started < kThresholds.fewest_new_processes) return false;
  // The parent of a process allocates the first memory of the process. Therefore count the processes themselves, not
  // the allocating tasks.
  const double all = sum_of_bytes(groups);
  double tasks = 0;
  double bytes_of_tasks = 0;
  for (const GrowthGroup* const group : groups) {
    if (group->cache != "task_struct") continue;
    tasks += group->objects;
    bytes_of_tasks += group->bytes;
  }
  if (bytes_of_tasks >= kThresholds.good_part * all && 2 * static_cast<double>(started) >= tasks) return true;
  double held = 0;
  double most = 0;
  std::size_t holders = 0;
  for (const auto& [process, own] : by_process(groups)) {
    const auto running = evidence.running->find(process);
    if (running == evidence.running->end() || !running->second || !is_settled(own)) continue;
    ++holders;
    held += sum_of_bytes(own);
    most = std::max(most, sum_of_bytes(own));
  }
  return holders >= kThresholds.fewest_new_processes && 2 * held >= all &&
         most <= kThresholds.most_of_one_process * all;
}

}  // namespace kmt
