// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/narrowing.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/growth/clusters.hpp"
#include "analysis/growth/rise.hpp"
#include "analysis/growth/states.hpp"
#include "base/number.hpp"
#include "base/units.hpp"
#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostClusters = 10;     // maximum number of clusters for which memory is recorded
constexpr std::size_t kMostFilterTerms = 16;  // maximum number of cache names, or of sizes, in one event filter

void add_cache(const std::string& cache, Narrowing& narrowing) {
  if (narrowing.has(cache)) return;
  if (cache.starts_with(kPagesOfOrder)) {
    narrowing.orders.push_back(parse_leading<std::uint64_t>(cache.substr(kPagesOfOrder.size())).value_or(0));
  } else if (!is_slab_cache(cache)) {
    return;
  } else if (is_of_a_size(cache)) {
    if (narrowing.object_sizes.size() < kMostFilterTerms)
      narrowing.object_sizes.push_back(parse_leading<std::uint64_t>(cache.substr(kObjectsOf.size())).value_or(0));
  } else if (class_of(cache) == cache && cache.starts_with("kmalloc-") && !cache.starts_with("kmalloc-rcl-")) {
    if (narrowing.sizes.size() < kMostFilterTerms)
      narrowing.sizes.push_back(parse_size(cache.substr(cache.rfind('-') + 1)));
  } else if (narrowing.caches.size() < kMostFilterTerms) {
    narrowing.caches.push_back(cache);
  }
}

void narrow_by_samples(const GrowthSeen& samples, Narrowing& narrowing) {
  constexpr double kLeastOfAHalf = kThresholds.least_of_each_half;
  struct Candidate {
    const GrowthCluster* cluster;
    double score;
  };
  const auto clusters = clusters_of(&samples, nullptr);
  std::vector<Candidate> candidates;
  for (const auto& [key, cluster] : clusters) {
    const std::uint64_t seen = count_of_seen(cluster.samples);
    const std::vector<double> live = sum_of(cluster.samples, samples.steps);
    const double first_half = live[live.size() / 2];
    const double rise = live.back();
    if (seen < kThresholds.fewest_samples_to_record || rise < kThresholds.least_rise ||
        first_half < kLeastOfAHalf * rise || rise - first_half < kLeastOfAHalf * rise)
      continue;
    const Trend trend = trend_of(live, samples.step_seconds);
    candidates.push_back({&cluster, trend.evenness * rise});
  }
  std::ranges::stable_sort(candidates, std::greater(), &Candidate::score);
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostClusters); ++i) {
    const auto& groups = candidates[i].cluster->samples;
    for (const auto& [cache, bytes] : bytes_by_cache(groups))
      if (bytes >= kThresholds.share_of_cause * sum_of_bytes(groups)) add_cache(cache, narrowing);
  }
}

// Adds caches and page orders whose kernel counters grow. If there are samples, adds only caches that rise very
// steadily or late: samples may have missed such growth.
void narrow_by_states(const std::vector<StateSeries>& states, double threshold, bool has_samples,
                      Narrowing& narrowing) {
  constexpr std::size_t kMost = 6;
  std::vector<std::pair<double, const StateSeries*>> rising;
  for (const StateSeries& series : states) {
    if (series.reclaimable || follows_processes(series.name) || is_of_a_size(series.name)) continue;
    const Rise rise = rise_of(series.values, series.seconds_between, threshold, states.size());
    const bool is_late = !rise.sure && late_rise(series, threshold, states.size());
    if (has_samples && series.cache && rise.trend.evenness < kThresholds.even_enough_to_record && !is_late) continue;
    if (rise.bytes >= kThresholds.least_rise &&
        (is_late || (rise.trend.growth != Growth::past && rise.trend.confidence >= kThresholds.confidence_to_record)))
      rising.emplace_back(rise.bytes, &series);
  }
  std::ranges::stable_sort(rising, std::greater(), &std::pair<double, const StateSeries*>::first);
  for (std::size_t i = 0; i < std::min(rising.size(), kMost); ++i) {
    if (rising[i].second->cache) add_cache(rising[i].second->name, narrowing);
    // With samples, narrow_by_samples() has already selected the page orders to record.
    if (rising[i].second->name == kUnaccounted && !has_samples) narrowing.pages = true;
  }
}

// True if the recording would contain only caches that tracing itself uses. Every tracing instance allocates from these
// caches for each event type. If the recording contains other caches too, the caches of tracing are recorded as well,
// because one of their names may stand for several merged caches.
bool is_of_tracing(const Narrowing& narrowing) {
  return narrowing.sizes.empty() && narrowing.object_sizes.empty() && narrowing.orders.empty() && !narrowing.pages &&
         std::ranges::all_of(narrowing.caches, [](const std::string& cache) {
           return cache == "ftrace_event_field" || cache == "trace_event_file";
         });
}

}  // namespace

Narrowing narrow(const InvestigationEvidence& evidence) {
  Narrowing narrowing;
  if (evidence.samples) narrow_by_samples(*evidence.samples, narrowing);
  // Without samples, only the kernel's counters show pages that were allocated directly from the page allocator.
  narrow_by_states(state_series(evidence.states), evidence.threshold_bytes_per_s, evidence.samples.has_value(),
                   narrowing);
  if (is_of_tracing(narrowing)) return {};
  return narrowing;
}

}  // namespace kmt
