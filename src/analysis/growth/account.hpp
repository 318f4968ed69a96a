// SPDX-License-Identifier: GPL-2.0-or-later
// Compares findings with the kernel's own counters (slabinfo and meminfo). In this code, these counters are called the
// account.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/growth/clusters.hpp"
#include "analysis/growth/rise.hpp"
#include "analysis/growth/states.hpp"
#include "results/growth/investigation.hpp"

namespace kmt {

// Returns the name of the kernel counter that includes the memory of a cache.
std::string account_of(const std::string& cache);

class KernelAccount {
 public:
  // `evidence` must outlive this object.
  explicit KernelAccount(const InvestigationEvidence& evidence);

  const std::vector<StateSeries>& states() const { return states_; }
  const std::vector<StateGrowth>& growth() const { return growth_; }
  // True if a cluster has most of the memory of a cache with confirmed growth. The cluster then counts as the cause,
  // even if its own samples are too few to show growth.
  bool names(const GrowthCluster& cluster, const Rise& samples) const;
  // Returns how a cluster has risen since the confirmed late growth of a cache started. Empty if the cluster does not
  // make up most of that cache's growth. Based on samples; `judged` is the number of clusters.
  std::optional<Rise> late_rise_of(const GrowthCluster& cluster, std::size_t judged) const;
  // Compares the growth of a finding with the kernel counters of its caches. True if the counters show growth too,
  // false if they contradict it. Empty if the kernel has no counters for these caches or too few values of them. `late`
  // is true if the finding is about the second half of the time. The counters must then grow in that half.
  std::optional<bool> supports(const std::vector<FindingCache>& caches, bool late) const;
  std::optional<bool> supports(const FindingCache& cache, bool late) const;
  // True if one cache meets three conditions: its growth is confirmed, it has a large share of the finding's growth,
  // and the finding and the kernel counter of the cache grow at similar rates. `plainly` applies stricter thresholds,
  // for findings without other evidence.
  bool confirms(const std::vector<FindingCache>& caches, bool plainly) const;
  // True if slabinfo was read too rarely to show a trend of the cache, but the cache grew by about as much as the
  // finding.
  bool differs_as_much(const FindingCache& cache) const;
  // Returns the caches that these groups allocate from, in descending order of growth.
  std::vector<FindingCache> caches_of(const std::vector<const GrowthGroup*>& groups, double bytes_per_s) const;

 private:
  NoAccount why_none(const std::string& cache) const;
  std::size_t step_of(const LateRise& late) const;  // time step of the samples in which the late rise began

  const InvestigationEvidence& evidence_;
  std::vector<StateSeries> states_;
  std::vector<StateGrowth> growth_;
  std::map<std::string, Rise> rises_;  // key: name of the state
  // By name of the kernel counter; contains only late rises that are certain.
  std::map<std::string, LateRise> late_rises_;
  // For each cache: growth of its sampled live bytes, in bytes, since the late rise of the cache began.
  std::map<std::string, double> late_rise_of_all_;
  std::map<std::string, double> sampled_bytes_;  // live bytes in the samples, by cache
};

}  // namespace kmt
