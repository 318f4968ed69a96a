// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/investigation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/growth/account.hpp"
#include "analysis/growth/clusters.hpp"
#include "analysis/growth/finding.hpp"
#include "analysis/growth/holders.hpp"
#include "analysis/growth/rise.hpp"
#include "analysis/growth/states.hpp"
#include "analysis/growth/traces.hpp"
#include "analysis/matching/slab_account.hpp"
#include "results/series/thresholds.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

namespace {

class Judge {
 public:
  explicit Judge(const InvestigationEvidence& evidence)
      : evidence_(evidence), trace_(evidence.trace), account_(evidence) {
    const double shortest = std::max(evidence.samples ? kThresholds.shortest_recording * evidence.seconds : 0,
                                     kThresholds.shortest_recording_seconds);
    if (trace_ && trace_->seconds() < shortest) trace_.reset();
    if (trace_ && evidence.memory_cgroups) name_memory_cgroups(*evidence.memory_cgroups, *trace_);
  }

  Judgement judgement() {
    Judgement judgement;
    judgement.threshold_bytes_per_s = evidence_.threshold_bytes_per_s;
    judgement.states = account_.growth();
    judgement.shared_memory = shared_memory_rise();
    const auto clusters = clusters_of(evidence_.samples ? &*evidence_.samples : nullptr, trace_ ? &*trace_ : nullptr);
    judgement.judged = judged_ = clusters.size();
    for (const auto& [key, cluster] : clusters)
      if (auto finding = finding_of(key, cluster)) judgement.findings.push_back(std::move(*finding));
    mark_reclaimable(judgement.states);
    compare_sum_with_caches(judgement.states);
    mark_held_by_processes(judgement.states);
    add_holders(judgement);
    name_untested_sites(judgement.states);
    std::ranges::stable_sort(judgement.findings, [](const GrowthFinding& a, const GrowthFinding& b) {
      return a.certainty != b.certainty ? a.certainty < b.certainty : a.trend.bytes_per_s > b.trend.bytes_per_s;
    });
    add_coverage(judgement);
    for (StateGrowth& state : judgement.states)
      if (const auto explained = explained_.find(state.name); explained != explained_.end())
        state.explained_bytes_per_s = explained->second;
    return judgement;
  }

 private:
  // Returns the rise of Shmem if it is large.
  std::optional<SharedMemoryRise> shared_memory_rise() const;
  // Marks caches whose growth follows reclaimable memory, such as the accounting data of dentry slabs. Marks SUnreclaim
  // if such caches make up most of its growth. Growth that confirmed findings explain is not reclaimable.
  void mark_reclaimable(std::vector<StateGrowth>& states) const;
  // Sets the growth of SUnreclaim to not confirmed if the caches in this sum do not grow as much.
  void compare_sum_with_caches(std::vector<StateGrowth>& states) const;
  // Sets StateGrowth::untested_site.
  void name_untested_sites(std::vector<StateGrowth>& states) const;
  std::optional<GrowthFinding> finding_of(const ClusterKey& key, const GrowthCluster& cluster);
  Certainty certainty_of(const GrowthCluster& cluster, const Rise& trace, const Rise& samples, bool by_account,
                         GrowthFinding& finding);
  // Finds caches with confirmed growth that no call site explains. For each of them, adds the cluster that holds most
  // of the cache as a finding.
  void add_holders(Judgement& judgement);
  std::optional<GrowthFinding> holder_of(const StateGrowth& state, const GrowthSeen& seen, bool exact,
                                         const std::map<ClusterKey, GrowthCluster>& clusters) const;
  // Fills in which sources were observed, and for how many seconds.
  void add_coverage(Judgement& judgement) const;
  // Returns the sampled groups whose caches the recording did not cover, scaled to `seconds`.
  std::vector<GrowthGroup> not_recorded(const GrowthCluster& cluster, double seconds) const;
  // True if the recorded caches have most of the cluster's sampled bytes.
  bool is_mostly_recorded(const GrowthCluster& cluster) const;
  // True if the cluster already had enough sampled live bytes at the start of the recording for growth at the rate
  // `bytes_per_s`. Empty if the samples cannot decide this, for example because sampling ended too early.
  std::optional<bool> began_before_trace(const GrowthCluster& cluster, double bytes_per_s) const;
  // Adds the growth of these groups to the kernel counters that include them, even if the counter itself grows little.
  static void explain(const std::vector<const GrowthGroup*>& groups, double bytes_per_s,
                      std::map<std::string, double>& explained);
  // Sets the growth of kernel counters to not confirmed if processes that started recently and still run hold most of
  // the memory.
  void mark_held_by_processes(std::vector<StateGrowth>& states) const;

  const InvestigationEvidence& evidence_;
  std::optional<GrowthSeen> trace_;  // groups of the recording; missing stacks are taken from samples
  KernelAccount account_;
  std::size_t judged_ = 0;                          // number of clusters tested for growth
  std::map<std::string, double> explained_;         // explained growth in bytes per second, by counter name
  std::map<std::string, double> surely_explained_;  // the part of `explained_` that confirmed findings explain
  // By counter name: growth in bytes per second of memory that new processes hold.
  std::map<std::string, double> held_by_processes_;
};

std::optional<SharedMemoryRise> Judge::shared_memory_rise() const {
  for (const MemorySeries& series : evidence_.states) {
    if (series.source != MemorySource::meminfo || series.name != "Shmem" || series.points.empty()) continue;
    const SharedMemoryRise rise{series.points.front().value, series.points.back().value};
    if (rise.last - rise.first >= kThresholds.much_shared_memory) return rise;
  }
  return std::nullopt;
}

void Judge::mark_reclaimable(std::vector<StateGrowth>& states) const {
  const auto is_surely_explained = [this](const StateGrowth& state) {
    const auto explained = surely_explained_.find(state.name);
    return explained != surely_explained_.end() &&
           explained->second >= kThresholds.much_explained * state.trend.bytes_per_s;
  };
  for (const auto* const seen : {&evidence_.samples, &evidence_.trace}) {
    if (!*seen || (*seen)->seconds() <= 0) continue;
    std::map<std::string, double> rates;
    for (const GrowthGroup& group : (*seen)->groups) {
      if (!group.excluded || group.stack.empty() || !is_shrinkable_site(group.stack.front())) continue;
      const double rate = group.bytes / (*seen)->seconds();
      rates[account_of(group.cache)] += rate;
      if (is_slab_cache(group.cache) && !is_shrinkable(group.cache, {})) rates["SUnreclaim"] += rate;
    }
    for (StateGrowth& state : states)
      if (const auto rate = rates.find(state.name);
          rate != rates.end() && rate->second >= kThresholds.much_explained * state.trend.bytes_per_s &&
          !is_surely_explained(state)) {
        state.reclaimable = true;
        state.sure = false;  // growth of reclaimable memory never counts as confirmed
        state.late.reset();
        state.steps = 0;
      }
  }
}

void Judge::compare_sum_with_caches(std::vector<StateGrowth>& states) const {
  const auto sum = std::ranges::find(states, "SUnreclaim", &StateGrowth::name);
  if (sum == states.end() || std::ranges::none_of(account_.states(), &StateSeries::cache)) return;
  const auto rate_of = [](const StateGrowth& state) {
    if (state.late) return state.late->bytes_per_s;
    return state.above ? state.trend.bytes_per_s : 0;
  };
  double rates = 0;
  for (const StateGrowth& state : states)
    if (state.cache && !state.reclaimable && !state.is_recorders) rates += rate_of(state);
  if (rates >= kThresholds.much_explained * rate_of(*sum)) return;
  sum->sure = false;
  sum->late.reset();
}

std::vector<GrowthGroup> Judge::not_recorded(const GrowthCluster& cluster, double seconds) const {
  std::vector<GrowthGroup> groups;
  if (evidence_.narrowing.empty()) return groups;
  // A recording of pages includes the pages of vmalloc areas, although its event filter does not list vmalloc areas. So
  // also check what was recorded.
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

bool Judge::is_mostly_recorded(const GrowthCluster& cluster) const {
  if (evidence_.narrowing.empty()) return true;
  double recorded = 0;
  for (const GrowthGroup* const group : cluster.samples)
    if (evidence_.narrowing.has(group->cache)) recorded += group->bytes;
  return 2 * recorded >= sum_of_bytes(cluster.samples);
}

std::optional<bool> Judge::began_before_trace(const GrowthCluster& cluster, double bytes_per_s) const {
  if (!evidence_.samples || !trace_) return std::nullopt;
  const GrowthSeen& samples = *evidence_.samples;
  if (samples.seconds() < kThresholds.ended_early * evidence_.trace_begin_seconds)
    return std::nullopt;  // samples ended early, and growth may have started later
  const auto steps =
      std::min(static_cast<std::size_t>(evidence_.trace_begin_seconds / samples.step_seconds), samples.steps);
  if (steps == 0) return std::nullopt;
  // If only slabs were sampled, no samples of pages are expected.
  double seen = 0;
  for (const GrowthGroup* const group : cluster.trace)
    if (samples.pages || is_slab_cache(group->cache)) seen += group->bytes;
  const double part = seen / std::max(sum_of_bytes(cluster.trace), 1.0);
  const double expected = part * bytes_per_s * static_cast<double>(steps) * samples.step_seconds;
  if (expected < kThresholds.fewest_expected * static_cast<double>(std::max<std::uint64_t>(samples.mean_bytes, 1)))
    return std::nullopt;
  const std::vector<double> live = sum_of(cluster.samples, samples.steps);
  return live[steps - 1] >= kThresholds.least_share_of_expected * expected;
}

Certainty Judge::certainty_of(const GrowthCluster& cluster, const Rise& trace, const Rise& samples, bool by_account,
                              GrowthFinding& finding) {
  const bool recorded = finding.exact;
  const Ground course = recorded ? Ground::recording : Ground::samples;
  const auto add = [&finding](ReasonKind kind, Ground ground) { finding.reasons.push_back({kind, ground}); };
  const bool sure_alone = recorded ? trace.sure : samples.sure;
  add(sure_alone ? ReasonKind::rises_evenly : ReasonKind::rises_unevenly, course);
  const bool account_agrees = by_account || account_.confirms(finding.caches, false);
  // If the kernel's counters confirm growth, and one task steadily allocates as much, this task is the cause.
  Certainty certainty =
      sure_alone || by_account || account_.confirms(finding.caches, true) ? Certainty::sure : Certainty::weak;
  const auto not_above = [&certainty](Certainty most) { certainty = std::max(certainty, most); };
  const auto before = recorded ? began_before_trace(cluster, finding.trend.bytes_per_s) : std::nullopt;
  const bool samples_agree = before.value_or(false) && samples.trend.growth == Growth::steady;
  if (samples_agree) add(ReasonKind::seen_before_recording, Ground::samples);
  if (before && !*before) {
    add(ReasonKind::hardly_seen_before_recording, Ground::samples);
    not_above(Certainty::weak);
  }
  const auto supported = account_.supports(finding.caches, recorded && evidence_.samples);
  if (account_agrees) add(ReasonKind::account_confirms, Ground::account);
  if (!account_agrees && supported && *supported) add(ReasonKind::account_grows, Ground::account);
  if (supported && !*supported) {
    add(ReasonKind::account_does_not_grow, Ground::account);
    not_above(Certainty::weak);
  }
  // The name of the cache is unknown, only its object size. Other objects of this size may be freed without an event,
  // and the growth may belong to these objects.
  if (is_of_a_size(finding.caches.front().name) && !supported.value_or(false)) {
    add(ReasonKind::unknown_cache, Ground::account);
    not_above(Certainty::likely);
  }
  // A steady rise that no other source confirms is enough if the kernel's counters grew at a similar rate. The counters
  // need not grow steadily, because they may include other memory.
  const bool stands_alone =
      sure_alone && is_highly_significant((recorded ? trace : samples).trend, judged_) &&
      (recorded ? !evidence_.samples && account_.differs_as_much(finding.caches.front()) : supported.value_or(false));
  if (!samples_agree && !account_agrees && !stands_alone) {
    // If `supported` is false, the reason account_does_not_grow was added above.
    if (supported.value_or(true)) add(ReasonKind::too_slow_or_short, course);
    not_above(Certainty::likely);
  }
  return certainty;
}

std::optional<GrowthFinding> Judge::finding_of(const ClusterKey& key, const GrowthCluster& cluster) {
  const double threshold = evidence_.threshold_bytes_per_s;
  const auto rise_in = [&](const std::optional<GrowthSeen>& seen, const std::vector<const GrowthGroup*>& groups) {
    return groups.empty() ? Rise{} : rise_of(sum_of(groups, seen->steps), seen->step_seconds, threshold, judged_);
  };
  Rise samples = rise_in(evidence_.samples, cluster.samples);
  const Rise trace = rise_in(trace_, cluster.trace);
  // If a recorded group does not rise, either the growth has stopped or the rise in the samples was chance. But a short
  // recording may miss growth, so a confirmed rise in samples counts more than the recording.
  const bool exact = !cluster.trace.empty() && (trace.above || !samples.sure) && is_mostly_recorded(cluster);
  const auto late = exact || samples.sure ? std::nullopt : account_.late_rise_of(cluster, judged_);
  const bool by_account = !exact && (late || account_.names(cluster, samples));
  if (late) samples = *late;
  if (exact ? !trace.above : !samples.above && !by_account) return std::nullopt;
  const GrowthSeen& seen = exact ? *trace_ : *evidence_.samples;
  const std::vector<const GrowthGroup*>& groups = exact ? cluster.trace : cluster.samples;
  // For caches that were not recorded, growth is estimated from samples.
  const std::vector<GrowthGroup> estimates = exact ? not_recorded(cluster, seen.seconds()) : std::vector<GrowthGroup>();
  std::vector<const GrowthGroup*> others;
  others.reserve(estimates.size());
  for (const GrowthGroup& estimate : estimates) others.push_back(&estimate);
  GrowthFinding finding;
  finding.entry = key.entry;
  finding.task = key.task;
  finding.exact = exact;
  finding.trend = (exact ? trace : samples).trend;
  describe_finding(seen, groups, others, finding);
  add_process_counts(evidence_, groups, finding);
  add_threads(cluster.samples, finding.processes);  // a recording does not contain thread names
  finding.caches = account_.caches_of(groups, finding.trend.bytes_per_s);
  finding.certainty = certainty_of(cluster, trace, samples, by_account, finding);
  if (is_held_by_new_processes(evidence_, groups)) {
    finding.reasons.push_back({ReasonKind::held_by_new_processes, Ground::sites});
    finding.certainty = std::max(finding.certainty, Certainty::likely);
    explain(groups, finding.trend.bytes_per_s, held_by_processes_);
    explain(others, finding.unrecorded_bytes_per_s, held_by_processes_);
  }
  if (!others.empty()) finding.reasons.push_back({ReasonKind::not_all_recorded, Ground::sites});
  if (finding.certainty == Certainty::weak) return finding;
  const auto explain_in = [&](std::map<std::string, double>& explained) {
    explain(groups, finding.trend.bytes_per_s, explained);
    explain(others, finding.unrecorded_bytes_per_s, explained);
  };
  explain_in(explained_);
  if (finding.certainty == Certainty::sure) explain_in(surely_explained_);
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
  // Fewer samples are enough if other tasks have hardly any objects in this cache.
  const bool is_nearly_all = most >= kThresholds.nearly_all_of_cache * all;
  if (count_of_seen(held) < (is_nearly_all ? kThresholds.fewest_if_nearly_all : kThresholds.fewest_samples) ||
      most < kThresholds.most_of_cache * all)
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
    // For a late rise, only the rate is known, not the confidence interval.
    *end = state.sure ? *end * most / all : bytes_per_s;
  describe_finding(seen, held, {}, finding);
  add_process_counts(evidence_, held, finding);
  finding.caches = account_.caches_of(held, finding.trend.bytes_per_s);
  if (!state.sure) {
    finding.since_seconds = state.late->since_seconds;
    for (FindingCache& cache : finding.caches)
      if (cache.account == state.name) cache.kernel_bytes_per_s = state.late->bytes_per_s;
  }
  finding.reasons = {{ReasonKind::holds_most, Ground::account, 100 * most / all},
                     {ReasonKind::too_little_seen, exact ? Ground::recording : Ground::samples}};
  return finding;
}

void Judge::add_holders(Judgement& judgement) {
  std::optional<GrowthSeen> trace = evidence_.trace;  // use the recording even if it is short
  const GrowthSeen* const samples = evidence_.samples ? &*evidence_.samples : nullptr;
  const auto clusters = clusters_of(samples, trace ? &*trace : nullptr);
  for (const StateGrowth& state : judgement.states) {
    if (!(state.sure || (state.late && state.late->sure)) || state.reclaimable || explained_.contains(state.name))
      continue;
    std::optional<GrowthFinding> holder;
    if (trace) holder = holder_of(state, *trace, true, clusters);
    if (!holder && samples != nullptr) holder = holder_of(state, *samples, false, clusters);
    if (!holder) continue;
    // This cluster replaces weaker findings with the same task and entry.
    std::erase_if(judgement.findings, [&](const GrowthFinding& finding) {
      return finding.certainty == Certainty::weak && finding.entry == holder->entry && finding.task == holder->task;
    });
    explained_[state.name] += holder->trend.bytes_per_s;
    judgement.findings.push_back(std::move(*holder));
  }
}

void Judge::name_untested_sites(std::vector<StateGrowth>& states) const {
  for (StateGrowth& state : states) {
    if (!state.cache || !state.sure || explained_.contains(state.name)) continue;
    // The recording has all allocations of a cache, but only for a part of the time. So use samples only if the
    // recording shows no such call site.
    for (const auto* const seen : {&evidence_.trace, &evidence_.samples}) {
      if (!*seen || (*seen)->seconds() <= 0 || !state.untested_site.empty()) continue;
      std::map<std::string, double> bytes_of;
      for (const GrowthGroup& group : (*seen)->groups)
        if (group.excluded && account_of(group.cache) == state.name && !group.stack.empty() &&
            !is_shrinkable_site(group.stack.front()))
          bytes_of[group.stack.front()] += group.bytes;
      const auto most = std::ranges::max_element(bytes_of, {}, [](const auto& one) { return one.second; });
      if (most != bytes_of.end() &&
          most->second >= kThresholds.much_explained * state.bytes_per_s() * (*seen)->seconds())
        state.untested_site = most->first;
    }
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

void Judge::mark_held_by_processes(std::vector<StateGrowth>& states) const {
  if (held_by_processes_.empty()) return;
  std::map<std::string, double> held = held_by_processes_;
  // Task stacks have no allocation event. VmallocUsed includes them, so use the growth of KernelStack.
  const auto stacks = std::ranges::find(states, "KernelStack", &StateGrowth::name);
  if (stacks != states.end()) held["VmallocUsed"] = std::max(held["VmallocUsed"], stacks->bytes_per_s());
  for (StateGrowth& state : states) {
    const auto rate = held.find(state.name);
    if (rate == held.end() || rate->second < kThresholds.much_explained * state.bytes_per_s()) continue;
    state.sure = false;
    state.late.reset();
  }
}

void Judge::add_coverage(Judgement& judgement) const {
  const auto is_followed = [](const StateSeries& series) { return series.values.size() >= Trend::kFewestValues; };
  judgement.followed = static_cast<std::size_t>(std::ranges::count_if(account_.states(), is_followed));
  judgement.saw_caches = std::ranges::any_of(
      account_.states(), [&](const StateSeries& series) { return series.cache && is_followed(series); });
  const auto has_trend = [](const std::optional<GrowthSeen>& seen) {
    return seen && seen->steps >= Trend::kFewestValues;
  };
  judgement.saw_allocations = has_trend(evidence_.samples) || has_trend(trace_);
  for (const auto* const seen : {&evidence_.samples, &evidence_.trace})
    if (*seen) judgement.seen_seconds = std::max(judgement.seen_seconds, (*seen)->seconds());
  if (evidence_.samples) judgement.seen_until_seconds = evidence_.samples->seconds();
  if (evidence_.trace)
    judgement.seen_until_seconds =
        std::max(judgement.seen_until_seconds, evidence_.trace_begin_seconds + evidence_.trace->seconds());
  judgement.sampled = evidence_.samples.has_value();
  const double visible = judgement.sampled
                             ? std::max(kThresholds.least_rise, kThresholds.samples_nearly_always_found *
                                                                    static_cast<double>(evidence_.samples->mean_bytes))
                             : kThresholds.least_rise;
  judgement.visible_bytes_per_s = visible / std::max(evidence_.seconds, 1.0);
  if (evidence_.samples) judgement.covered_seconds = evidence_.samples->seconds();
  if (evidence_.trace)
    judgement.covered_seconds +=
        std::min(evidence_.trace->seconds(),
                 judgement.seen_until_seconds - std::min(judgement.covered_seconds, judgement.seen_until_seconds));
  if (!evidence_.copied && judgement.seen_seconds > 0 &&
      judgement.seen_until_seconds < kThresholds.ended_early * evidence_.seconds)
    mark_unfollowed(judgement.seen_until_seconds, judgement.states);
  if (const auto& seen = evidence_.samples ? evidence_.samples : trace_)
    for (const GrowthGroup& group : seen->groups)
      if (group.excluded) judgement.excluded_bytes += group.bytes;
}

}  // namespace

void add_names(const SnapshotResult& snapshot, Judgement& judgement) {
  std::map<std::string_view, const std::vector<std::string>*> merged;
  for (const SlabCacheUse& cache : snapshot.caches)
    if (!cache.aliases.empty()) merged.emplace(cache.name, &cache.aliases);
  const auto name = [&merged](auto& of, const std::string& cache) {
    if (const auto found = merged.find(cache); found != merged.end()) of.merged_with = *found->second;
  };
  for (StateGrowth& state : judgement.states) name(state, state.shown_name());
  for (GrowthFinding& finding : judgement.findings) {
    for (FindingCache& cache : finding.caches) name(cache, cache.shown_name());
    for (FindingProcess& process : finding.processes)
      process.pod_name = pod_name_of_cgroup(process.cgroup, snapshot.memory.pods);
  }
}

Judgement judge(const InvestigationEvidence& evidence) { return Judge(evidence).judgement(); }

}  // namespace kmt
