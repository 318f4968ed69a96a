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

// The line that counts a cache of a finding.
std::string account_of(const std::string& cache);

class KernelAccount {
 public:
  // Borrows the evidence.
  explicit KernelAccount(const InvestigationEvidence& evidence);

  const std::vector<StateSeries>& states() const { return states_; }
  const std::vector<StateGrowth>& growth() const { return growth_; }
  // True if a cluster takes most of a cache whose growth is confirmed, although its own samples are too few to show
  // growth.
  bool names(const GrowthCluster& cluster, const Rise& samples) const;
  // How a cluster rises by samples since the growth of a cache is confirmed, if it takes most of that cache since then.
  // `judged`: clusters.
  std::optional<Rise> late_rise_of(const GrowthCluster& cluster, std::size_t judged) const;
  // Empty: the account has none of these caches, or too few values of them.
  std::optional<bool> bears_out(const std::vector<FindingCache>& caches) const;
  // True if growth is confirmed of a cache that is a good part of these, and others do not take most of it. `plainly`:
  // without any other evidence.
  bool confirms(const std::vector<FindingCache>& caches, bool plainly) const;
  // True if a cache with too few states for a trend differs by about as much.
  bool differs_as_much(const FindingCache& cache) const;
  // The caches that these groups take from, the fastest first.
  std::vector<FindingCache> caches_of(const std::vector<const GrowthGroup*>& groups, double bytes_per_s) const;

 private:
  NoAccount why_none(const std::string& cache) const;
  std::size_t step_of(const LateRise& late) const;  // of samples

  const InvestigationEvidence& evidence_;
  std::vector<StateSeries> states_;
  std::vector<StateGrowth> growth_;
  std::map<std::string, Rise> rises_;               // by state
  std::map<std::string, LateRise> late_rises_;      // sure ones, by state
  std::map<std::string, double> late_rise_of_all_;  // bytes that samples rose by since then, by cache
  std::map<std::string, double> sampled_bytes_;     // that live, by cache
};

}  // namespace kmt
