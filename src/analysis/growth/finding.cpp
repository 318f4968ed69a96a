// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/finding.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/growth/clusters.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostFindingRows = 12;

template <typename Row, typename Key>
std::vector<Row> rows_of(std::map<Key, Row>&& rows) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, std::greater(), &Row::bytes);
  if (sorted.size() > kMostFindingRows) sorted.resize(kMostFindingRows);
  return sorted;
}

std::vector<FindingSite> sites_of(const std::vector<const GrowthGroup*>& groups) {
  std::map<std::pair<std::vector<std::string>, std::string>, FindingSite> sites;
  for (const GrowthGroup* const group : groups) {
    const std::vector<std::string> stack = own_stack(group->stack);
    FindingSite& site = sites[{stack, group->cache}];
    site.call_site = stack.front();
    site.stack = stack;
    site.cache = group->cache;
    site.objects += group->objects;
    site.bytes += group->bytes;
  }
  return rows_of(std::move(sites));
}

std::vector<FindingProcess> processes_of(const std::vector<const GrowthGroup*>& groups) {
  std::map<std::pair<std::string, std::uint32_t>, FindingProcess> processes;
  for (const GrowthGroup* const group : groups) {
    FindingProcess& process = processes[{group->process == 0 ? group->task : "", group->process}];
    process.task = group->task;
    process.process = group->process;
    if (process.cgroup.empty()) process.cgroup = group->cgroup;
    process.objects += group->objects;
    process.bytes += group->bytes;
  }
  return rows_of(std::move(processes));
}

// Returns the call site that represents the finding. Among sites with at least half the bytes of the largest site, this
// is the site nearest to the common function. It is usually the site that allocates the requested structure, not the
// site that allocates the file for this structure.
std::string best_site(const std::vector<FindingSite>& sites, const std::string& function) {
  const auto distance = [&](const FindingSite& site) {
    const std::vector<std::string_view> functions = functions_of(site.stack);
    const auto at = std::ranges::find(functions, function);
    return at - functions.begin();
  };
  const FindingSite* best = &sites.front();
  for (const FindingSite& site : sites)
    if (site.bytes * 2 >= sites.front().bytes && distance(site) < distance(*best)) best = &site;
  return best->call_site;
}

}  // namespace

void add_threads(const std::vector<const GrowthGroup*>& groups, std::vector<FindingProcess>& processes) {
  for (const GrowthGroup* const group : groups) {
    if (group->thread.empty()) continue;
    const auto process = std::ranges::find(processes, group->process, &FindingProcess::process);
    if (process == processes.end()) continue;
    std::vector<std::string>& threads = process->threads;
    const auto at = std::ranges::lower_bound(threads, group->thread);
    if (at == threads.end() || *at != group->thread) threads.insert(at, group->thread);
  }
}

void describe_finding(const GrowthSeen& seen, const std::vector<const GrowthGroup*>& groups,
                      const std::vector<const GrowthGroup*>& others, GrowthFinding& finding) {
  finding.series = sum_of(groups, seen.steps);
  finding.step_seconds = seen.step_seconds;
  finding.seconds = seen.seconds();
  finding.bytes = sum_of_bytes(groups);
  for (const GrowthGroup* const group : groups) finding.objects += group->objects;
  std::vector<const GrowthGroup*> all = groups;
  all.insert(all.end(), others.begin(), others.end());
  finding.sites = sites_of(all);
  finding.unrecorded_bytes_per_s = sum_of_bytes(others) / std::max(finding.seconds, 1e-9);
  // For call sites whose caches were not recorded, the values are estimates from samples.
  for (FindingSite& site : finding.sites)
    site.estimated = std::ranges::find(others, site.cache, &GrowthGroup::cache) != others.end();
  finding.processes = processes_of(groups);
  add_threads(groups, finding.processes);
  finding.function = common_function(all);
  finding.call_site = best_site(finding.sites, finding.function);
}

}  // namespace kmt
