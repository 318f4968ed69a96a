// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/conclusion.hpp"

#include <algorithm>

#include "results/series/thresholds.hpp"

namespace kmt {

namespace {

using State = Conclusion::State;
using States = std::vector<StateGrowth>;

State find_state(const States& states, auto is_it) {
  const auto found = std::ranges::find_if(states, is_it);
  if (found == states.end()) return std::nullopt;
  return static_cast<std::size_t>(found - states.begin());
}

State find_late(const States& states, bool sure) {
  return find_state(states, [sure](const StateGrowth& state) { return state.late && (state.late->sure || !sure); });
}

bool is_judged(const StateGrowth& state) { return state.sure && !state.reclaimable; }

bool is_sure(const GrowthFinding& finding) { return finding.certainty == Certainty::sure; }

// Returns the kernel counter with the most growth that findings do not explain, if this unexplained growth is faster
// than that of all confirmed findings together.
State find_unexplained(const Judgement& judgement) {
  double found = 0;
  for (const GrowthFinding& finding : judgement.findings)
    if (is_sure(finding)) found += finding.trend.bytes_per_s;
  State most;
  double most_rest = found;
  for (std::size_t i = 0; i < judgement.states.size(); ++i) {
    const StateGrowth& state = judgement.states[i];
    const double rest = state.trend.bytes_per_s - state.explained_bytes_per_s;
    if (!is_judged(state) || rest <= most_rest) continue;
    most = i;
    most_rest = rest;
  }
  return most;
}

// Returns further kernel counters with confirmed growth if findings explain less than half of this growth. Counters
// that grow much slower than the fastest are left out: they may be side effects, such as small objects allocated with
// files. SUnreclaim is left out because it is the sum of other counters.
std::vector<std::size_t> find_others(const Judgement& judgement, State shown) {
  constexpr std::size_t kMost = 3;
  double fastest = shown ? judgement.states[*shown].trend.bytes_per_s : 0;
  for (const GrowthFinding& finding : judgement.findings)
    if (is_sure(finding)) fastest = std::max(fastest, finding.trend.bytes_per_s);
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < judgement.states.size() && others.size() < kMost; ++i) {
    const StateGrowth& state = judgement.states[i];
    if (i != shown && is_judged(state) && state.name != "SUnreclaim" &&
        state.explained_bytes_per_s < kThresholds.much_explained * state.trend.bytes_per_s &&
        state.trend.bytes_per_s >= kThresholds.least_beside * fastest)
      others.push_back(i);
  }
  return others;
}

State find_late_other(const States& states, State shown) {
  for (std::size_t i = 0; i < states.size(); ++i)
    if (const StateGrowth& state = states[i];
        i != shown && state.late && state.late->sure && state.name != "SUnreclaim" &&
        state.explained_bytes_per_s < kThresholds.much_explained * state.late->bytes_per_s)
      return i;
  return std::nullopt;
}

// Returns the state of task stacks (KernelStack) if it grows and findings show that tasks grow too. Task stacks have no
// allocation event, so no finding shows them, but each stack lives as long as its task.
State find_stacks(const Judgement& judgement) {
  const auto is_of_tasks = [](const GrowthFinding& finding) {
    return finding.certainty != Certainty::weak &&
           std::ranges::find(finding.caches, "task_struct", &FindingCache::name) != finding.caches.end();
  };
  if (std::ranges::none_of(judgement.findings, is_of_tasks)) return std::nullopt;
  const State stacks =
      find_state(judgement.states, [](const StateGrowth& state) { return state.name == "KernelStack"; });
  return stacks && judgement.states[*stacks].bytes_per_s() > 0 ? stacks : std::nullopt;
}

// Returns the state with the largest rise in steps. A single cache is preferred to the sum of all caches, because it is
// more specific.
State find_stepped(const States& states) {
  const auto rose_in_steps = [](const StateGrowth& state) { return state.steps > 0 && !state.is_recorders; };
  const State cache = find_state(states, [&](const StateGrowth& state) { return state.cache && rose_in_steps(state); });
  return cache ? cache : find_state(states, rose_in_steps);
}

std::vector<std::size_t> find_rose_most(const States& states) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> rises;
  for (std::size_t i = 0; i < states.size() && rises.size() < kMost; ++i)
    if (const StateGrowth& state = states[i]; !state.reclaimable && !state.is_recorders && !state.is_slab_accounting &&
                                              state.last - state.first >= kThresholds.least_rise)
      rises.push_back(i);
  return rises;
}

// Returns the reason why the trace could not be tested for growth. Empty if there is no trace.
std::optional<Unclear> why_trace_is_not_judged(const InvestigationResult& result) {
  // Nothing was recorded, so there is no trace to test.
  if (result.watched && result.trace_seconds == 0) return std::nullopt;
  if (result.lost_events > 0) return Unclear::lossy_trace;
  if (std::max(result.trace_seconds, result.judgement.seen_seconds) == 0) return std::nullopt;
  return result.judgement.seen_seconds < kThresholds.shortest_recording_seconds ? Unclear::short_trace
                                                                                : Unclear::empty_trace;
}

std::optional<Unclear> why_nothing_is_judged(const InvestigationResult& result) {
  if (const auto why = why_trace_is_not_judged(result)) return why;
  return result.timeless_states >= Trend::kFewestValues ? Unclear::no_times : Unclear::few_states;
}

// Returns why a kernel counter makes the verdict unclear. The counter started to rise late, or rose after samples or
// the recording had ended. Or it never falls, but its rise may be chance.
std::optional<Unclear> why_state_is_unclear(const Judgement& judgement, State& state) {
  state = find_late(judgement.states, false);
  if (state) return Unclear::late_rise;
  state = find_state(judgement.states, [](const StateGrowth& one) { return one.rose_unfollowed; });
  if (state) return Unclear::rise_unfollowed;
  if (judgement.saw_allocations) return std::nullopt;
  state = find_state(judgement.states, [](const StateGrowth& one) {
    return one.above && !one.is_recorders && one.trend.confidence >= kThresholds.hardly_ever_falls;
  });
  if (state) return Unclear::rise_by_account;
  return std::nullopt;
}

// Returns how much of the time the evidence covers. Without samples, the kernel's counters decide the verdict, and they
// cover the whole time. If samples ended early, counters do not replace them: in a cache that many tasks use, only
// samples can show the slow growth of one task.
Coverage coverage_of(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  const bool counters_suffice = !judgement.sampled && judgement.followed > 0;
  Coverage coverage;
  coverage.asked_seconds = std::max(result.requested_seconds, result.seconds);
  coverage.by_allocations = judgement.seen_seconds > 0 && !counters_suffice;
  coverage.covered_seconds =
      std::min(coverage.by_allocations ? judgement.covered_seconds : result.seconds, coverage.asked_seconds);
  return coverage;
}

// Returns why the verdict is unclear; empty if it is clear that nothing grows.
std::optional<Unclear> why_unclear(const InvestigationResult& result, State& state) {
  const Judgement& judgement = result.judgement;
  if (result.unsure_order) return Unclear::order;
  if (result.unreadable_trace) return Unclear::unreadable_trace;
  if (!judgement.has_trends()) return why_nothing_is_judged(result);
  if (result.watched && result.seconds < kThresholds.shortest_watch) return Unclear::short_watch;
  if (judgement.followed == 0 && judgement.may_grow()) return Unclear::unconfirmed;
  if (result.watched && judgement.followed == 0) return Unclear::rarely_read;
  if (const auto why = why_state_is_unclear(judgement, state)) return why;
  if (result.lost_events > result.trace_events) return Unclear::mostly_lost;
  if (coverage_of(result).share() < kThresholds.least_covered) return Unclear::half_covered;
  if (judgement.saw_allocations || judgement.saw_caches) return std::nullopt;
  return result.cut_short.empty() ? Unclear::only_sums : Unclear::cut_short;
}

// Counts the findings that may be growth. For all other findings, the kernel's counters show that memory is freed as
// fast as it is allocated.
void add_unsure(const std::vector<GrowthFinding>& findings, Conclusion& conclusion) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const bool is_steady = findings[i].has(ReasonKind::account_does_not_grow);
    if (!is_steady) ++conclusion.unsure_findings;
    std::optional<std::size_t>& first = is_steady ? conclusion.steady : conclusion.unsure;
    if (!first) first = i;
  }
}

}  // namespace

Conclusion conclude(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  Conclusion conclusion;
  conclusion.coverage = coverage_of(result);
  conclusion.sure_findings = static_cast<std::size_t>(std::ranges::count_if(judgement.findings, is_sure));
  conclusion.followed_briefly = judgement.seen_seconds < kThresholds.ended_early * result.seconds;
  const bool has_findings = conclusion.sure_findings > 0;
  if (has_findings) conclusion.unexplained = find_unexplained(judgement);
  if (!has_findings) conclusion.state = find_state(judgement.states, [](const StateGrowth& one) { return one.sure; });
  if (has_findings || conclusion.state) {
    conclusion.verdict = GrowthVerdict::grows;
    conclusion.stacks = find_stacks(judgement);
    conclusion.others = find_others(judgement, has_findings ? conclusion.unexplained : conclusion.state);
    conclusion.late_other = find_late_other(judgement.states, std::nullopt);
    return conclusion;
  }
  conclusion.state = find_late(judgement.states, true);
  if (conclusion.state) {
    conclusion.verdict = GrowthVerdict::grows;
    conclusion.late_other = find_late_other(judgement.states, conclusion.state);
    return conclusion;
  }
  if (const auto why = why_unclear(result, conclusion.state)) {
    conclusion.unclear = *why;
    conclusion.least_seconds =
        *why == Unclear::short_trace ? kThresholds.shortest_recording_seconds : kThresholds.shortest_watch;
    conclusion.rose_most = find_rose_most(judgement.states);
    return conclusion;
  }
  conclusion.verdict = GrowthVerdict::no_growth;
  add_unsure(judgement.findings, conclusion);
  conclusion.state = find_state(judgement.states, [](const StateGrowth& one) { return one.slow; });
  conclusion.stepped = find_stepped(judgement.states);
  return conclusion;
}

}  // namespace kmt
