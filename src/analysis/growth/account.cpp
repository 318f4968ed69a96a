// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/account.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

// Returns the bytes by which a group has grown since this time step.
double rise_since(const GrowthGroup& group, std::size_t step) {
  return step < group.live.size() ? group.live.back() - group.live[step] : 0;
}

}  // namespace

std::string account_of(const std::string& cache) {
  if (cache == "vmalloc areas") return "VmallocUsed";
  if (cache == "percpu memory") return "Percpu";
  if (cache == kPageTables) return "PageTables";
  return cache.starts_with("pages") ? std::string(kUnaccounted) : cache;
}

KernelAccount::KernelAccount(const InvestigationEvidence& evidence)
    : evidence_(evidence), states_(state_series(evidence.states)) {
  const double threshold = evidence.threshold_bytes_per_s;
  if (evidence.trace && evidence.setup_end_seconds > 0)
    interpolate_setup_window(
        evidence.setup_begin_seconds,
        evidence.setup_end_seconds + evidence.trace->seconds() + kThresholds.seconds_to_end_recording, states_);
  for (const StateSeries& series : states_)
    rises_[series.name] = rise_of(series.judged, series.seconds_between, threshold, states_.size());
  growth_ = state_growth(states_, threshold);
  if (evidence.trace) mark_recorders(evidence.setup_begin_seconds, evidence.setup_end_seconds, growth_);
  mark_sheaves(evidence.states, growth_);
  for (const StateGrowth& state : growth_)
    if (state.may_be_in_sheaves) rises_[state.name].sure = rises_[state.name].above = rises_[state.name].slow = false;
  for (const StateGrowth& state : growth_)
    if (state.late && state.late->sure) late_rises_[state.name] = *state.late;
  mark_slab_accounting(evidence.states, growth_);
  if (!evidence.samples) return;
  for (const GrowthGroup& group : evidence.samples->groups) {
    sampled_bytes_[group.cache] += group.bytes;
    if (const auto late = late_rises_.find(account_of(group.cache)); late != late_rises_.end())
      late_rise_of_all_[group.cache] += rise_since(group, step_of(late->second));
  }
}

bool KernelAccount::names(const GrowthCluster& cluster, const Rise& samples) const {
  if (count_of_seen(cluster.samples) < kThresholds.fewest_samples || samples.bytes < kThresholds.least_rise ||
      samples.trend.evenness < kThresholds.even_enough)
    return false;
  const double all = sum_of_bytes(cluster.samples);
  return std::ranges::any_of(bytes_by_cache(cluster.samples), [&](const auto& of_cache) {
    const auto& [cache, bytes] = of_cache;
    const auto rise = rises_.find(account_of(cache));
    const double bytes_per_s = bytes / std::max(evidence_.samples->seconds(), 1e-9);
    return rise != rises_.end() && rise->second.sure && is_highly_significant(rise->second.trend, states_.size()) &&
           bytes >= kThresholds.good_part * all && bytes >= kThresholds.most_of_cache * sampled_bytes_.at(cache) &&
           bytes_per_s >= kThresholds.least_of_rate * rise->second.trend.bytes_per_s &&
           rise->second.trend.bytes_per_s >= kThresholds.enough_of_rate * bytes_per_s;
  });
}

std::size_t KernelAccount::step_of(const LateRise& late) const {
  return static_cast<std::size_t>(late.since_seconds / evidence_.samples->step_seconds);
}

std::optional<Rise> KernelAccount::late_rise_of(const GrowthCluster& cluster, std::size_t judged) const {
  if (cluster.samples.empty() || late_rises_.empty()) return std::nullopt;
  const GrowthSeen& seen = *evidence_.samples;
  const std::vector<double> live = sum_of(cluster.samples, seen.steps);
  for (const auto& [cache, bytes] : bytes_by_cache(cluster.samples)) {
    const auto late = late_rises_.find(account_of(cache));
    if (late == late_rises_.end() || count_of_seen(cluster.samples) < kThresholds.fewest_samples ||
        bytes < kThresholds.good_part * sum_of_bytes(cluster.samples))
      continue;
    const std::size_t since = step_of(late->second);
    if (since + Trend::kFewestValues > seen.steps) continue;
    double rise = 0;
    for (const GrowthGroup* const group : cluster.samples)
      if (group->cache == cache) rise += rise_since(*group, since);
    const double bytes_per_s = rise / (static_cast<double>(seen.steps - since) * seen.step_seconds);
    const Rise part =
        rise_of(std::span(live).subspan(since), seen.step_seconds, evidence_.threshold_bytes_per_s, judged);
    if (rise >= kThresholds.least_rise && rise >= kThresholds.most_of_cache * late_rise_of_all_.at(cache) &&
        part.trend.evenness >= kThresholds.even_enough &&
        bytes_per_s >= kThresholds.least_of_rate * late->second.bytes_per_s &&
        late->second.bytes_per_s >= kThresholds.enough_of_rate * bytes_per_s)
      return part;
  }
  return std::nullopt;
}

bool KernelAccount::confirms(const std::vector<FindingCache>& caches, bool plainly) const {
  const double part_of_cache = plainly ? kThresholds.most_of_cache : kThresholds.good_part;
  double all = 0;
  for (const FindingCache& cache : caches) all += cache.bytes_per_s;
  return std::ranges::any_of(caches, [&](const FindingCache& cache) {
    const auto rise = rises_.find(account_of(cache.name));
    return rise != rises_.end() && rise->second.sure && cache.bytes_per_s >= kThresholds.good_part * all &&
           (!plainly || is_highly_significant(rise->second.trend, states_.size())) &&
           cache.bytes_per_s >= part_of_cache * rise->second.trend.bytes_per_s &&
           rise->second.trend.bytes_per_s >= kThresholds.enough_of_rate * cache.bytes_per_s;
  });
}

std::optional<bool> KernelAccount::supports(const std::vector<FindingCache>& caches, bool late_half) const {
  // Growth of the finding in bytes per second: in caches whose kernel counters confirm the growth, and in caches whose
  // counters contradict it.
  double supported = 0;
  double contradicted = 0;
  for (const FindingCache& cache : caches) {
    const std::optional<bool> one = supports(cache, late_half);
    if (one) (*one ? supported : contradicted) += cache.bytes_per_s;
  }
  if (supported == 0 && contradicted == 0) return std::nullopt;
  return supported >= contradicted;
}

std::optional<bool> KernelAccount::supports(const FindingCache& cache, bool late_half) const {
  const auto rise = rises_.find(account_of(cache.name));
  if (rise == rises_.end()) return std::nullopt;
  const auto late = late_rises_.find(account_of(cache.name));
  const double enough = kThresholds.enough_of_rate * cache.bytes_per_s;
  const double too_slow = kThresholds.too_slow * cache.bytes_per_s;
  if (late != late_rises_.end() && late->second.bytes_per_s >= enough) return true;
  const Trend& trend = rise->second.trend;
  const bool is_trend = trend.growth != Growth::too_few_points;
  if (is_trend && late_half && trend.late_high < too_slow) return false;
  if ((is_trend ? trend.bytes_per_s : rise->second.bytes_per_s) >= enough) return true;
  return is_trend && trend.high < too_slow ? std::optional(false) : std::nullopt;
}

bool KernelAccount::differs_as_much(const FindingCache& cache) const {
  const auto rise = rises_.find(account_of(cache.name));
  return rise != rises_.end() && rise->second.trend.growth == Growth::too_few_points &&
         rise->second.bytes_per_s >= kThresholds.differs_least * cache.bytes_per_s &&
         rise->second.bytes_per_s <= kThresholds.differs_most * cache.bytes_per_s;
}

NoAccount KernelAccount::why_none(const std::string& cache) const {
  if (!is_slab_cache(cache)) return evidence_.copied ? NoAccount::not_copied : NoAccount::not_kept;
  if (std::ranges::any_of(states_, &StateSeries::cache)) return NoAccount::no_such_cache;
  return evidence_.copied ? NoAccount::slabinfo_not_copied : NoAccount::slabinfo_not_read;
}

std::vector<FindingCache> KernelAccount::caches_of(const std::vector<const GrowthGroup*>& groups,
                                                   double bytes_per_s) const {
  const double all = std::max(sum_of_bytes(groups), 1.0);
  std::vector<FindingCache> caches;
  for (const auto& [name, bytes] : bytes_by_cache(groups)) {
    if (bytes < kThresholds.share_of_cause * all) continue;
    FindingCache& cache =
        caches.emplace_back(FindingCache{name, account_of(name), bytes_per_s * bytes / all, std::nullopt, {}});
    if (const auto state = std::ranges::find(states_, cache.account, &StateSeries::name); state != states_.end())
      cache.kind = state->kind;
    const auto rise = rises_.find(account_of(name));
    if (rise == rises_.end()) {
      cache.no_account = why_none(name);
      continue;
    }
    const bool is_trend = rise->second.trend.growth != Growth::too_few_points;
    cache.kernel_bytes_per_s = is_trend ? rise->second.trend.bytes_per_s : rise->second.bytes_per_s;
  }
  std::ranges::stable_sort(caches, std::greater(), &FindingCache::bytes_per_s);
  return caches;
}

}  // namespace kmt
