// SPDX-License-Identifier: GPL-2.0-or-later
// Compares findings with the kernel's own account of its memory.
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

// Returns the line of the account that counts a cache of a finding.
std::string account_of(const std::string& cache);

class KernelAccount {
 public:
  // The evidence is borrowed.
  explicit KernelAccount(const InvestigationEvidence& evidence);

  const std::vector<StateSeries>& states() const { return states_; }
  const std::vector<StateGrowth>& growth() const { return growth_; }
  // True if a cluster makes up most of a cache with confirmed growth. This names the cause even if the cluster's own
  // samples are too few to show growth.
  bool names(const GrowthCluster& cluster, const Rise& samples) const;
  // Returns how a cluster has risen since the confirmed late growth of a cache started. Empty if the cluster does not
  // make up most of that cache's growth. Based on samples; `judged` is the number of clusters.
  std::optional<Rise> late_rise_of(const GrowthCluster& cluster, std::size_t judged) const;
  // True if the account shows growth of these caches, false if it contradicts their growth. Empty if the account lacks
  // these caches or has too few values of them.
  std::optional<bool> supports(const std::vector<FindingCache>& caches) const;
  // True if the growth of a cache is confirmed, that cache has a large share of these bytes, and no other cause
  // explains most of its growth. `plainly` applies stricter thresholds, for use without other evidence.
  bool confirms(const std::vector<FindingCache>& caches, bool plainly) const;
  // True if the cache has too few states for a trend, but grew by about as much as the finding.
  bool differs_as_much(const FindingCache& cache) const;
  // Returns the caches that these groups allocate from, the fastest-growing first.
  std::vector<FindingCache> caches_of(const std::vector<const GrowthGroup*>& groups, double bytes_per_s) const;

 private:
  NoAccount why_none(const std::string& cache) const;
  std::size_t step_of(const LateRise& late) const;  // step of the samples at that time

  const InvestigationEvidence& evidence_;
  std::vector<StateSeries> states_;
  std::vector<StateGrowth> growth_;
  std::map<std::string, Rise> rises_;           // by state
  std::map<std::string, LateRise> late_rises_;  // only certain ones, by state
  // Bytes by which the samples of each cache have risen since its late rise.
  std::map<std::string, double> late_rise_of_all_;
  std::map<std::string, double> sampled_bytes_;  // live bytes by cache
};

}  // namespace kmt
