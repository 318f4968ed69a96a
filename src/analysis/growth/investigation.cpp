// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/investigation.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "analysis/growth/clusters.hpp"
#include "analysis/growth/rise.hpp"
#include "analysis/growth/states.hpp"
#include "analysis/growth/traces.hpp"
#include "analysis/series/trend.hpp"
#include "base/units.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostRows = 12;           // of a finding
constexpr double kSecondsToEndRecording = 0.5;  // until the kernel has taken back what it kept for one

constexpr double kEnoughOfRate = 0.4;  // that a cache grows by

// Of what takes most of what a cache surely grows by:
constexpr std::uint64_t kFewestSamples = 5;
constexpr std::uint64_t kFewestOfNearlyAll = 3;
constexpr double kNearlyAll = 0.9;    // of what was seen to live in a cache
constexpr double kEvenEnough = 0.99;  // what was taken at once takes no part in what grows all the time
constexpr double kMostOfCache = 0.5;
constexpr double kGoodPart = 0.3;      // of the cluster
constexpr double kLeastOfRate = 0.25;  // of so few samples the share tells more than the rate

std::uint64_t count_of_samples(const GrowthCluster& cluster) {
  std::uint64_t seen = 0;
  for (const GrowthGroup* const group : cluster.samples) seen += group->seen;
  return seen;
}

// Bytes that a group rose by since a step.
double rise_since(const GrowthGroup& group, std::size_t step) {
  return step < group.live.size() ? group.live.back() - group.live[step] : 0;
}

// What keeps account of a cache of a finding.
std::string account_of(const std::string& cache) {
  if (cache == "vmalloc areas") return "VmallocUsed";
  if (cache == "percpu memory") return "Percpu";
  return cache.starts_with("pages") ? std::string(kUnaccounted) : cache;
}

class Judge {
 public:
  explicit Judge(const InvestigationEvidence& evidence) : evidence_(evidence), trace_(evidence.trace) {
    const double shortest =
        std::max(evidence.samples ? kShortestRecording * evidence.seconds : 0, kShortestRecordingSeconds);
    if (trace_ && trace_->seconds() < shortest) trace_.reset();
    if (trace_ && evidence.memory_cgroups) name_memory_cgroups(*evidence.memory_cgroups, *trace_);
    if (evidence.samples)
      for (const GrowthGroup& group : evidence.samples->groups) sampled_bytes_[group.cache] += group.bytes;
    states_ = state_series(evidence.states);
    if (evidence.trace && evidence.setup_end_seconds > 0)
      take_out(evidence.setup_begin_seconds,
               evidence.setup_end_seconds + evidence.trace->seconds() + kSecondsToEndRecording, states_);
    for (const StateSeries& series : states_)
      cache_rises_[series.name] =
          rise_of(series.judged, series.seconds_between, evidence.threshold_bytes_per_s, states_.size());
  }

  Judgement judgement() {
    Judgement judgement;
    judgement.threshold_bytes_per_s = evidence_.threshold_bytes_per_s;
    judgement.states = state_growth(states_, evidence_.threshold_bytes_per_s);
    if (evidence_.trace) mark_recorders(evidence_.setup_begin_seconds, evidence_.setup_end_seconds, judgement.states);
    for (const StateGrowth& state : judgement.states)
      if (state.late && state.late->sure) late_rises_[state.name] = *state.late;
    sum_late_rises();
    const auto clusters = clusters_of(evidence_.samples ? &*evidence_.samples : nullptr, trace_ ? &*trace_ : nullptr);
    judgement.judged = judged_ = clusters.size();
    for (const auto& [key, cluster] : clusters)
      if (auto finding = finding_of(key, cluster, clusters.size())) judgement.findings.push_back(std::move(*finding));
    add_holders(judgement);
    std::ranges::stable_sort(judgement.findings, [](const GrowthFinding& a, const GrowthFinding& b) {
      return a.certainty != b.certainty ? a.certainty < b.certainty : a.trend.bytes_per_s > b.trend.bytes_per_s;
    });
    const auto is_followed = [](const StateSeries& series) { return series.values.size() >= Trend::kFewestValues; };
    judgement.followed = static_cast<std::size_t>(std::ranges::count_if(states_, is_followed));
    const auto tells = [](const std::optional<GrowthSeen>& seen) {
      return seen && seen->steps >= Trend::kFewestValues;
    };
    judgement.saw_allocations = tells(evidence_.samples) || tells(trace_);
    for (const auto* const seen : {&evidence_.samples, &evidence_.trace})
      if (*seen) judgement.seen_seconds = std::max(judgement.seen_seconds, (*seen)->seconds());
    judgement.saw_caches =
        std::ranges::any_of(states_, [&](const StateSeries& series) { return series.cache && is_followed(series); });
    if (evidence_.samples) judgement.seen_until_seconds = evidence_.samples->seconds();
    if (evidence_.trace)
      judgement.seen_until_seconds =
          std::max(judgement.seen_until_seconds, evidence_.trace_begin_seconds + evidence_.trace->seconds());
    if (!evidence_.copied && judgement.seen_seconds > 0 &&
        judgement.seen_until_seconds < kEndedEarly * evidence_.seconds)
      mark_unfollowed(judgement.seen_until_seconds, judgement.states);
    for (StateGrowth& state : judgement.states)
      if (const auto explained = explained_.find(state.name); explained != explained_.end())
        state.explained_bytes_per_s = explained->second;
    judgement.left_out_bytes = left_out_bytes();
    return judgement;
  }

 private:
  std::optional<GrowthFinding> finding_of(const ClusterKey& key, const GrowthCluster& cluster, std::size_t judged);
  // How much of it there is, where and by whom, by its trend. `others` have call sites in it and nothing else.
  void tell_who(const GrowthSeen& seen, const std::vector<const GrowthGroup*>& groups,
                const std::vector<const GrowthGroup*>& others, GrowthFinding& finding) const;
  Certainty certainty_of(const GrowthCluster& cluster, const Rise& trace, const Rise& samples, bool by_account,
                         GrowthFinding& finding);
  // Of what surely grows by the kernel's account, and of which no call site is seen to rise: who holds most of what was
  // seen to live of it is likely to be who takes it.
  void add_holders(Judgement& judgement);
  std::optional<GrowthFinding> holder_of(const StateGrowth& state, const GrowthSeen& seen, bool exact,
                                         const std::map<ClusterKey, GrowthCluster>& clusters) const;
  // Of caches that the recording was not narrowed to, as much as falls to `seconds`.
  std::vector<GrowthGroup> not_recorded(const GrowthCluster& cluster, double seconds) const;
  // Whether it takes most of what a cache surely grows by, though of itself there are too few samples to tell.
  bool is_named_by_account(const GrowthCluster& cluster, const Rise& samples) const;
  // How it rises by samples since a cache surely does, of what it takes most of since then; empty: of none.
  std::optional<Rise> late_rise_by_account(const GrowthCluster& cluster) const;
  // By what samples say that it takes.
  bool is_mostly_recorded(const GrowthCluster& cluster) const;
  // Whether samples of the time before the recording bear out a rate; empty: too few to be expected.
  std::optional<bool> began_before_trace(const GrowthCluster& cluster, double bytes_per_s) const;
  // Whether the kernel's account of the caches does; empty: it does not tell.
  std::optional<bool> is_borne_out(const std::vector<FindingCache>& caches) const;
  // Whether a cache of a good part of it surely grows by that account, and not mostly by others.
  // `plainly`: without anything else that shows it.
  bool surely_borne_out(const std::vector<FindingCache>& caches, bool plainly) const;
  // Whether it differs by about as much where there are too few states to say more of it, as of two copies.
  bool differs_as_much(const FindingCache& cache) const;
  std::vector<FindingCache> caches_of(const std::vector<const GrowthGroup*>& groups, double bytes_per_s) const;
  // Of each cache of these, small ones too, by its account: what the groups of a finding grow by.
  static void explain(const std::vector<const GrowthGroup*>& groups, double bytes_per_s,
                      std::map<std::string, double>& explained);
  // Of a cache of which states do not tell; the texts live for ever.
  std::string_view why_no_account(const std::string& cache) const;
  double left_out_bytes() const;
  std::size_t step_of(const LateRise& late) const;  // of samples
  void sum_late_rises();

  const InvestigationEvidence& evidence_;
  std::optional<GrowthSeen> trace_;  // with stacks of samples
  std::vector<StateSeries> states_;
  std::map<std::string, Rise> cache_rises_;
  std::map<std::string, LateRise> late_rises_;      // sure ones, by state
  std::map<std::string, double> late_rise_of_all_;  // bytes that samples rose by since then, by cache
  std::map<std::string, double> sampled_bytes_;     // that live, by cache
  std::size_t judged_ = 0;                          // clusters
  std::map<std::string, double> explained_;         // bytes a second, by state
};

std::vector<GrowthGroup> Judge::not_recorded(const GrowthCluster& cluster, double seconds) const {
  std::vector<GrowthGroup> groups;
  if (evidence_.narrowing.empty()) return groups;
  // Of pages those that belong to areas of vmalloc were recorded with the others.
  const auto is_recorded = [&cluster](const std::string& cache) {
    return std::ranges::find(cluster.trace, cache, &GrowthGroup::cache) != cluster.trace.end();
  };
  for (const GrowthGroup* const group : cluster.samples) {
    if (evidence_.narrowing.has(group->cache) || is_recorded(group->cache)) continue;
    const double part = seconds / std::max(evidence_.samples->seconds(), seconds);
    GrowthGroup& copy = groups.emplace_back(*group);
    copy.bytes *= part;
    copy.objects *= part;
  }
  return groups;
}

bool Judge::is_named_by_account(const GrowthCluster& cluster, const Rise& samples) const {
  if (count_of_samples(cluster) < kFewestSamples || samples.bytes < kLeastRise || samples.trend.evenness < kEvenEnough)
    return false;
  const double all = sum_of_bytes(cluster.samples);
  return std::ranges::any_of(bytes_by_cache(cluster.samples), [&](const auto& of_cache) {
    const auto& [cache, bytes] = of_cache;
    const auto rise = cache_rises_.find(account_of(cache));
    const double bytes_per_s = bytes / std::max(evidence_.samples->seconds(), 1e-9);
    return rise != cache_rises_.end() && rise->second.sure && is_far_more_even(rise->second.trend, states_.size()) &&
           bytes >= kGoodPart * all && bytes >= kMostOfCache * sampled_bytes_.at(cache) &&
           bytes_per_s >= kLeastOfRate * rise->second.trend.bytes_per_s &&
           rise->second.trend.bytes_per_s >= kEnoughOfRate * bytes_per_s;
  });
}

std::size_t Judge::step_of(const LateRise& late) const {
  return static_cast<std::size_t>(late.since_seconds / evidence_.samples->step_seconds);
}

void Judge::sum_late_rises() {
  if (!evidence_.samples || late_rises_.empty()) return;
  for (const GrowthGroup& group : evidence_.samples->groups)
    if (const auto late = late_rises_.find(account_of(group.cache)); late != late_rises_.end())
      late_rise_of_all_[group.cache] += rise_since(group, step_of(late->second));
}

std::optional<Rise> Judge::late_rise_by_account(const GrowthCluster& cluster) const {
  if (cluster.samples.empty() || late_rises_.empty()) return std::nullopt;
  const GrowthSeen& seen = *evidence_.samples;
  const std::vector<double> live = sum_of(cluster.samples, seen.steps);
  for (const auto& [cache, bytes] : bytes_by_cache(cluster.samples)) {
    const auto late = late_rises_.find(account_of(cache));
    if (late == late_rises_.end() || count_of_samples(cluster) < kFewestSamples ||
        bytes < kGoodPart * sum_of_bytes(cluster.samples))
      continue;
    const std::size_t since = step_of(late->second);
    if (since + Trend::kFewestValues > seen.steps) continue;
    double rise = 0;
    for (const GrowthGroup* const group : cluster.samples)
      if (group->cache == cache) rise += rise_since(*group, since);
    const double bytes_per_s = rise / (static_cast<double>(seen.steps - since) * seen.step_seconds);
    const Rise part =
        rise_of(std::span(live).subspan(since), seen.step_seconds, evidence_.threshold_bytes_per_s, judged_);
    if (rise >= kLeastRise && rise >= kMostOfCache * late_rise_of_all_.at(cache) &&
        part.trend.evenness >= kEvenEnough && bytes_per_s >= kLeastOfRate * late->second.bytes_per_s &&
        late->second.bytes_per_s >= kEnoughOfRate * bytes_per_s)
      return part;
  }
  return std::nullopt;
}

bool Judge::is_mostly_recorded(const GrowthCluster& cluster) const {
  if (evidence_.narrowing.empty()) return true;
  double recorded = 0;
  for (const GrowthGroup* const group : cluster.samples)
    if (evidence_.narrowing.has(group->cache)) recorded += group->bytes;
  return 2 * recorded >= sum_of_bytes(cluster.samples);
}

std::optional<bool> Judge::began_before_trace(const GrowthCluster& cluster, double bytes_per_s) const {
  constexpr double kFewestExpected = 8;  // samples: of so many a Poisson count is 0.3 times as large in 0.5 %
  constexpr double kLeastShare = 0.3;
  if (!evidence_.samples || !trace_) return std::nullopt;
  const GrowthSeen& samples = *evidence_.samples;
  if (samples.seconds() < kEndedEarly * evidence_.trace_begin_seconds) return std::nullopt;  // it may have begun since
  const auto steps =
      std::min(static_cast<std::size_t>(evidence_.trace_begin_seconds / samples.step_seconds), samples.steps);
  if (steps == 0) return std::nullopt;
  // Where samples are of slabs alone, pages are not to be expected among them.
  double seen = 0;
  for (const GrowthGroup* const group : cluster.trace)
    if (samples.pages || is_slab_cache(group->cache)) seen += group->bytes;
  const double part = seen / std::max(sum_of_bytes(cluster.trace), 1.0);
  const double expected = part * bytes_per_s * static_cast<double>(steps) * samples.step_seconds;
  if (expected < kFewestExpected * static_cast<double>(std::max<std::uint64_t>(samples.mean_bytes, 1)))
    return std::nullopt;
  const std::vector<double> live = sum_of(cluster.samples, samples.steps);
  return live[steps - 1] >= kLeastShare * expected;
}

bool Judge::surely_borne_out(const std::vector<FindingCache>& caches, bool plainly) const {
  const double part_of_cache = plainly ? 0.5 : kGoodPart;
  double all = 0;
  for (const FindingCache& cache : caches) all += cache.bytes_per_s;
  return std::ranges::any_of(caches, [&](const FindingCache& cache) {
    const auto rise = cache_rises_.find(account_of(cache.name));
    return rise != cache_rises_.end() && rise->second.sure && cache.bytes_per_s >= kGoodPart * all &&
           (!plainly || is_far_more_even(rise->second.trend, states_.size())) &&
           cache.bytes_per_s >= part_of_cache * rise->second.trend.bytes_per_s &&
           rise->second.trend.bytes_per_s >= kEnoughOfRate * cache.bytes_per_s;
  });
}

std::optional<bool> Judge::is_borne_out(const std::vector<FindingCache>& caches) const {
  constexpr double kAtMost = 0.8;  // a whole interval below that: the cache does not grow so
  std::optional<bool> borne_out;
  for (const FindingCache& cache : caches) {
    const auto rise = cache_rises_.find(account_of(cache.name));
    if (rise == cache_rises_.end()) continue;
    const auto late = late_rises_.find(account_of(cache.name));
    if (late != late_rises_.end() && late->second.bytes_per_s >= kEnoughOfRate * cache.bytes_per_s) return true;
    const Trend& trend = rise->second.trend;
    const bool is_trend = trend.growth != Growth::too_few_points;
    if ((is_trend ? trend.bytes_per_s : rise->second.bytes_per_s) >= kEnoughOfRate * cache.bytes_per_s) return true;
    if (!is_trend) continue;
    if (trend.high < kAtMost * cache.bytes_per_s) borne_out = false;
  }
  return borne_out;
}

bool Judge::differs_as_much(const FindingCache& cache) const {
  constexpr double kLeast = 0.5;
  constexpr double kMost = 2;
  const auto rise = cache_rises_.find(account_of(cache.name));
  return rise != cache_rises_.end() && rise->second.trend.growth == Growth::too_few_points &&
         rise->second.bytes_per_s >= kLeast * cache.bytes_per_s &&
         rise->second.bytes_per_s <= kMost * cache.bytes_per_s;
}

std::string_view Judge::why_no_account(const std::string& cache) const {
  if (!is_slab_cache(cache))
    return evidence_.copied ? "what was copied has no account of it" : "the kernel keeps no account of it";
  if (std::ranges::any_of(states_, &StateSeries::cache)) return "slabinfo has no cache of that name";
  return evidence_.copied ? "slabinfo is not among the copied files" : "slabinfo could not be read";
}

std::vector<FindingCache> Judge::caches_of(const std::vector<const GrowthGroup*>& groups, double bytes_per_s) const {
  const double all = std::max(sum_of_bytes(groups), 1.0);
  std::vector<FindingCache> caches;
  for (const auto& [name, bytes] : bytes_by_cache(groups)) {
    if (bytes < kShareOfCause * all) continue;
    FindingCache& cache =
        caches.emplace_back(FindingCache{name, account_of(name), bytes_per_s * bytes / all, std::nullopt, {}});
    if (const auto state = std::ranges::find(states_, cache.account, &StateSeries::name); state != states_.end())
      cache.kind = state->kind;
    const auto rise = cache_rises_.find(account_of(name));
    if (rise == cache_rises_.end()) {
      cache.no_account = why_no_account(name);
      continue;
    }
    const bool is_trend = rise->second.trend.growth != Growth::too_few_points;
    cache.kernel_bytes_per_s = is_trend ? rise->second.trend.bytes_per_s : rise->second.bytes_per_s;
  }
  std::ranges::stable_sort(caches, std::greater(), &FindingCache::bytes_per_s);
  return caches;
}

Certainty Judge::certainty_of(const GrowthCluster& cluster, const Rise& trace, const Rise& samples, bool by_account,
                              GrowthFinding& finding) {
  const bool recorded = finding.exact;
  const Ground course = recorded ? Ground::recording : Ground::samples;
  const auto say = [&finding](Ground ground, std::string reason) {
    finding.reasons.push_back({std::move(reason), ground});
  };
  const bool sure_alone = recorded ? trace.sure : samples.sure;
  if (sure_alone)
    say(course, recorded ? "In the recording it rises far more evenly than by chance"
                         : "By samples it rises far more evenly than by chance");
  else
    say(course, "Of itself it rises no more evenly than by chance");
  const bool account_agrees = by_account || surely_borne_out(finding.caches, false);
  // What surely grows by the kernel's account needs no more than somebody who steadily takes as much.
  Certainty certainty =
      sure_alone || by_account || surely_borne_out(finding.caches, true) ? Certainty::sure : Certainty::weak;
  const auto not_above = [&certainty](Certainty most) { certainty = std::max(certainty, most); };
  const auto before = recorded ? began_before_trace(cluster, finding.trend.bytes_per_s) : std::nullopt;
  const bool samples_agree = before.value_or(false) && samples.trend.growth == Growth::steady;
  if (samples_agree) say(Ground::samples, "Samples of the time before the recording show it too");
  if (before && !*before) {
    say(Ground::samples,
        "Samples of the time before the recording show far less of it: it began lately, or these objects live longer "
        "than the recording");
    not_above(Certainty::weak);
  }
  const auto borne_out = is_borne_out(finding.caches);
  if (account_agrees) say(Ground::account, "By the kernel's own account this surely grows with it");
  if (!account_agrees && borne_out && *borne_out)
    say(Ground::account, "By the kernel's own account this grows with it, though not more evenly than by chance");
  if (borne_out && !*borne_out) {
    say(Ground::account, "By the kernel's own account this does not grow with it: others free as much");
    not_above(Certainty::likely);
  }
  // Whatever else has objects of that size, and is freed on paths of its own, is taken for it.
  if (is_of_a_size(finding.caches.front().name) && !borne_out.value_or(false)) {
    say(Ground::account,
        "It is not known of which cache these objects are, and by the kernel's account none of that size grows so");
    not_above(Certainty::likely);
  }
  // The account does rise as much: whatever else moves in that hides only how evenly.
  const bool stands_alone =
      sure_alone && is_far_more_even((recorded ? trace : samples).trend, judged_) &&
      (recorded ? !evidence_.samples && differs_as_much(finding.caches.front()) : borne_out.value_or(false));
  if (!samples_agree && !account_agrees && !stands_alone) {
    if (borne_out.value_or(true))  // else it is said that the account does not
      say(course, "It is too slow, or too short, for another source to bear it out: watch longer");
    not_above(Certainty::likely);
  }
  return certainty;
}

template <typename Row, typename Key>
std::vector<Row> rows_of(std::map<Key, Row>&& rows) {
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, std::greater(), &Row::bytes);
  if (sorted.size() > kMostRows) sorted.resize(kMostRows);
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
    FindingProcess& process = processes[{group->task, group->process}];
    process.task = group->task;
    process.process = group->process;
    if (process.cgroup.empty()) process.cgroup = group->cgroup;
    process.objects += group->objects;
    process.bytes += group->bytes;
  }
  return rows_of(std::move(processes));
}

// The largest; of those that are half as large or more the one that lies nearest to where all of it passes through: the
// structure that was asked for, not the file that stands for it.
std::string telling_site(const std::vector<FindingSite>& sites, const std::string& function) {
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

void Judge::tell_who(const GrowthSeen& seen, const std::vector<const GrowthGroup*>& groups,
                     const std::vector<const GrowthGroup*>& others, GrowthFinding& finding) const {
  finding.series = sum_of(groups, seen.steps);
  finding.step_seconds = seen.step_seconds;
  finding.seconds = seen.seconds();
  finding.bytes = sum_of_bytes(groups);
  for (const GrowthGroup* const group : groups) finding.objects += group->objects;
  std::vector<const GrowthGroup*> all = groups;
  all.insert(all.end(), others.begin(), others.end());
  finding.sites = sites_of(all);
  finding.unrecorded_bytes_per_s = sum_of_bytes(others) / std::max(finding.seconds, 1e-9);
  for (FindingSite& site : finding.sites)  // which have caches that were not recorded
    site.estimated = std::ranges::find(others, site.cache, &GrowthGroup::cache) != others.end();
  finding.processes = processes_of(groups);
  finding.function = common_function(all);
  finding.call_site = telling_site(finding.sites, finding.function);
  finding.caches = caches_of(groups, finding.trend.bytes_per_s);
}

std::optional<GrowthFinding> Judge::finding_of(const ClusterKey& key, const GrowthCluster& cluster,
                                               std::size_t judged) {
  const double threshold = evidence_.threshold_bytes_per_s;
  const auto rise_in = [&](const std::optional<GrowthSeen>& seen, const std::vector<const GrowthGroup*>& groups) {
    return groups.empty() ? Rise{} : rise_of(sum_of(groups, seen->steps), seen->step_seconds, threshold, judged);
  };
  Rise samples = rise_in(evidence_.samples, cluster.samples);
  const Rise trace = rise_in(trace_, cluster.trace);
  // What was recorded and does not rise there has ended, or was chance; but a recording may be short.
  const bool exact = !cluster.trace.empty() && (trace.above || !samples.sure) && is_mostly_recorded(cluster);
  const auto late = exact || samples.sure ? std::nullopt : late_rise_by_account(cluster);
  const bool by_account = !exact && (late || is_named_by_account(cluster, samples));
  if (late) samples = *late;
  if (exact ? !trace.above : !samples.above && !by_account) return std::nullopt;
  const GrowthSeen& seen = exact ? *trace_ : *evidence_.samples;
  const std::vector<const GrowthGroup*>& groups = exact ? cluster.trace : cluster.samples;
  // What was not recorded belongs to it all the same: of it there are estimates.
  const std::vector<GrowthGroup> estimates = exact ? not_recorded(cluster, seen.seconds()) : std::vector<GrowthGroup>();
  std::vector<const GrowthGroup*> others;
  others.reserve(estimates.size());
  for (const GrowthGroup& estimate : estimates) others.push_back(&estimate);
  GrowthFinding finding;
  finding.entry = key.entry;
  finding.task = key.task;
  finding.exact = exact;
  finding.trend = (exact ? trace : samples).trend;
  tell_who(seen, groups, others, finding);
  finding.certainty = certainty_of(cluster, trace, samples, by_account, finding);
  if (!others.empty())
    finding.reasons.push_back(
        {"Not all of its caches were recorded: what samples say of the others is among its call sites", Ground::sites});
  if (finding.certainty == Certainty::weak) return finding;
  explain(groups, finding.trend.bytes_per_s, explained_);
  explain(others, finding.unrecorded_bytes_per_s, explained_);
  return finding;
}

std::optional<GrowthFinding> Judge::holder_of(const StateGrowth& state, const GrowthSeen& seen, bool exact,
                                              const std::map<ClusterKey, GrowthCluster>& clusters) const {
  double all = 0;
  double most = 0;
  const std::pair<const ClusterKey, GrowthCluster>* who = nullptr;
  std::vector<const GrowthGroup*> held;
  for (const auto& one : clusters) {
    const GrowthCluster& cluster = one.second;
    std::vector<const GrowthGroup*> groups = exact ? cluster.trace : cluster.samples;
    std::erase_if(groups, [&](const GrowthGroup* group) { return account_of(group->cache) != state.name; });
    const double bytes = sum_of_bytes(groups);
    all += bytes;
    if (bytes <= most) continue;
    most = bytes;
    who = &one;
    held = std::move(groups);
  }
  std::uint64_t count = 0;
  for (const GrowthGroup* const group : held) count += group->seen;
  // Where nobody else holds any, fewer do.
  if (count < (most >= kNearlyAll * all ? kFewestOfNearlyAll : kFewestSamples) || most < kMostOfCache * all)
    return std::nullopt;
  const double bytes_per_s = (state.sure ? state.trend.bytes_per_s : state.late->bytes_per_s) * most / all;
  if (exact && !began_before_trace(who->second, bytes_per_s).value_or(true)) return std::nullopt;
  GrowthFinding finding;
  finding.certainty = Certainty::likely;
  finding.entry = who->first.entry;
  finding.task = who->first.task;
  finding.exact = exact;
  finding.trend = state.trend;
  finding.trend.bytes_per_s = bytes_per_s;
  for (double* const end : {&finding.trend.low, &finding.trend.high})
    *end = state.sure ? *end * most / all : bytes_per_s;  // of a late rise the rate alone is known
  tell_who(seen, held, {}, finding);
  if (!state.sure) {
    finding.since_seconds = state.late->since_seconds;
    for (FindingCache& cache : finding.caches)
      if (cache.account == state.name) cache.kernel_bytes_per_s = state.late->bytes_per_s;
  }
  finding.reasons = {
      {fmt::format(
           "By the kernel's own account its cache surely grows, and this is {:.0f}% of what was seen to live there",
           100 * most / all),
       Ground::account},
      {"Of itself too little was seen of it, or for too short a time, to see it rise",
       exact ? Ground::recording : Ground::samples}};
  return finding;
}

void Judge::add_holders(Judgement& judgement) {
  std::optional<GrowthSeen> trace = evidence_.trace;  // a short one, too
  const GrowthSeen* const samples = evidence_.samples ? &*evidence_.samples : nullptr;
  const auto clusters = clusters_of(samples, trace ? &*trace : nullptr);
  for (const StateGrowth& state : judgement.states) {
    if (!(state.sure || (state.late && state.late->sure)) || state.reclaimable || explained_.contains(state.name))
      continue;
    std::optional<GrowthFinding> holder;
    if (trace) holder = holder_of(state, *trace, true, clusters);
    if (!holder && samples != nullptr) holder = holder_of(state, *samples, false, clusters);
    if (!holder) continue;
    std::erase_if(judgement.findings, [&](const GrowthFinding& finding) {  // which says less
      return finding.certainty == Certainty::weak && finding.entry == holder->entry && finding.task == holder->task;
    });
    explained_[state.name] += holder->trend.bytes_per_s;
    judgement.findings.push_back(std::move(*holder));
  }
}

void Judge::explain(const std::vector<const GrowthGroup*>& groups, double bytes_per_s,
                    std::map<std::string, double>& explained) {
  const double all = std::max(sum_of_bytes(groups), 1.0);
  for (const auto& [cache, bytes] : bytes_by_cache(groups)) {
    explained[account_of(cache)] += bytes_per_s * bytes / all;
    if (is_slab_cache(cache)) explained["SUnreclaim"] += bytes_per_s * bytes / all;
  }
}

double Judge::left_out_bytes() const {
  double bytes = 0;
  const GrowthSeen* const seen = evidence_.samples ? &*evidence_.samples : trace_ ? &*trace_ : nullptr;
  if (seen == nullptr) return 0;
  for (const GrowthGroup& group : seen->groups)
    if (!group.left_out.empty()) bytes += group.bytes;
  return bytes;
}

}  // namespace

void name_merged(const SnapshotResult& snapshot, Judgement& judgement) {
  std::map<std::string_view, const std::vector<std::string>*> merged;
  for (const SlabCacheUse& cache : snapshot.caches)
    if (!cache.aliases.empty()) merged.emplace(cache.name, &cache.aliases);
  const auto name = [&merged](auto& of, const std::string& cache) {
    if (const auto found = merged.find(cache); found != merged.end()) of.merged_with = *found->second;
  };
  for (StateGrowth& state : judgement.states) name(state, state.shown_name());
  for (GrowthFinding& finding : judgement.findings)
    for (FindingCache& cache : finding.caches) name(cache, cache.shown_name());
}

Judgement judge(const InvestigationEvidence& evidence) { return Judge(evidence).judgement(); }

}  // namespace kmt
