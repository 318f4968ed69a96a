// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/conclusion.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "results/series/thresholds.hpp"
#include "views/common/object_commands.hpp"
#include "views/common/object_words.hpp"

namespace kmt {

namespace {

std::string bytes_text(double bytes) {
  // The limit prevents an overflow of 64 bits, because evidence.json may contain any number.
  constexpr double kMost = 1e18;
  return humane_bytes(static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kMost)));
}

std::string name_in_words(const StateGrowth& state) {
  if (state.name == kUnaccounted) return "unaccounted memory";
  return state.cache ? "the slab cache " + with_merged(state.shown_name(), state.merged_with) : state.name;
}

std::string rate_in_words(const StateGrowth& state) {
  return fmt::format("{} by {}/s", name_in_words(state), bytes_text(state.trend.bytes_per_s));
}

std::string from_to(const StateGrowth& state) {
  return fmt::format("from {} to {}", bytes_text(state.first), bytes_text(state.last));
}

std::string late_growth_text(const StateGrowth& state) {
  return fmt::format("since about {:.0f} s: {} by {}/s, {}", state.late->since_seconds, name_in_words(state),
                     bytes_text(state.late->bytes_per_s), from_to(state));
}

// Returns the reason why no call site is named although growth is confirmed.
std::string why_unnamed(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  if (judgement.seen_seconds == 0) return ". Its allocator was not found: allocations could not be traced.";
  const std::string followed =
      fmt::format("allocations were followed for {:.1f} s of {:.1f} s", judgement.seen_seconds, result.seconds);
  if (!judgement.saw_allocations)
    return fmt::format(". Its allocator was not found: {}, which is too short.", followed);
  if (judgement.may_grow()) return ". No call site is confirmed as its cause; possible ones are below.";
  return fmt::format(". But its allocator was not found: no call site grows steadily at that rate{}.",
                     result.conclusion.followed_briefly ? ", and " + followed : "");
}

std::string percent_text(double share) { return fmt::format("{:.0f}%", 100 * share); }

// Returns a text about the part of the time that the evidence covers. Empty if the evidence covers nearly all of the
// time.
std::string coverage_text(const InvestigationResult& result) {
  const Coverage& coverage = result.conclusion.coverage;
  if (result.judgement.seen_seconds == 0)
    return " This is based on the kernel's counters alone, because allocations were not traced.";
  if (!coverage.by_allocations || coverage.share() >= kThresholds.ended_early) return {};
  return fmt::format(" Allocations were followed for {:.1f} s of {:.1f} s ({}).", coverage.covered_seconds,
                     coverage.asked_seconds, percent_text(coverage.share()));
}

// Returns the sentence about confirmed growth. The confirmed findings are sorted, and the fastest growth is first.
std::string growth_text(const InvestigationResult& result) {
  const Conclusion& conclusion = result.conclusion;
  const auto& findings = result.judgement.findings;
  if (conclusion.sure_findings == 1) return fmt::format("Confirmed growth: {}.", cause_words(findings.front()));
  if (conclusion.sure_findings > 1)
    return fmt::format("Confirmed growth in {} places. The fastest: {}.", conclusion.sure_findings,
                       cause_words(findings.front()));
  const StateGrowth& state = result.judgement.states[conclusion.state.value()];
  return state.sure
             ? fmt::format("Confirmed growth: {}, {}{}", rate_in_words(state), from_to(state), why_unnamed(result))
             : fmt::format("Confirmed growth {}{}", late_growth_text(state), why_unnamed(result));
}

std::string other_growth_text(const Conclusion& conclusion, const std::vector<StateGrowth>& states) {
  std::string out;
  if (conclusion.stacks)
    out += fmt::format(" Each task also has a stack: KernelStack grows by {}/s.",
                       bytes_text(states[*conclusion.stacks].bytes_per_s()));
  if (conclusion.unexplained) {
    const StateGrowth& state = states[*conclusion.unexplained];
    out += fmt::format(" But this does not explain most of the growth: {} grows by {}/s, {}.", name_in_words(state),
                       bytes_text(state.trend.bytes_per_s), from_to(state));
  }
  std::vector<std::string> others;
  for (const std::size_t other : conclusion.others) others.push_back(rate_in_words(states[other]));
  if (!others.empty()) out += fmt::format(" Also confirmed, mostly unexplained: {}.", fmt::join(others, ", "));
  if (conclusion.late_other)
    out += fmt::format(" Also confirmed, unexplained: growth {}.", late_growth_text(states[*conclusion.late_other]));
  return out;
}

// Returns a sentence about a kernel counter that rose in steps. Empty if there is none.
std::string steps_text(const InvestigationResult& result) {
  if (!result.conclusion.stepped) return {};
  const StateGrowth& state = result.judgement.states[*result.conclusion.stepped];
  return fmt::format(" Unsure: {} rose in {} steps, {}. A longer investigation can decide.", name_in_words(state),
                     state.steps, from_to(state));
}

// Returns a sentence about growth that is too slow to be visible in the observed time. Empty if all growth above the
// threshold is visible.
std::string visible_text(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  if (judgement.visible_bytes_per_s <= judgement.threshold_bytes_per_s) return {};
  return fmt::format(" In {:.0f} s, growth below {}/s may not show.", result.seconds,
                     bytes_text(judgement.visible_bytes_per_s));
}

// Returns a sentence about findings that may be growth. Empty if there are none.
std::string unsure_text(const InvestigationResult& result) {
  const Conclusion& conclusion = result.conclusion;
  if (!conclusion.unsure) return steps_text(result);
  const std::size_t more = conclusion.unsure_findings - 1;
  return fmt::format(" Unsure: {}{}. A longer investigation can decide.",
                     cause_words(result.judgement.findings[*conclusion.unsure]),
                     more > 0 ? fmt::format("; {} more below", more) : "");
}

// Returns the sentence to show if nothing grows faster than the threshold. The sentence also mentions confirmed growth
// that is slower.
std::string no_growth_text(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  const Conclusion& conclusion = result.conclusion;
  const std::string unsure = unsure_text(result);
  if (conclusion.state) {
    const StateGrowth& slow = judgement.states[*conclusion.state];
    return fmt::format(
        "No confirmed growth above --threshold, {} an hour.{} Below it, growth is confirmed for {}: {} an hour, {}.",
        bytes_text(3600 * judgement.threshold_bytes_per_s), unsure, name_in_words(slow),
        bytes_text(3600 * slow.trend.bytes_per_s), from_to(slow));
  }
  if (!unsure.empty()) return "No confirmed growth." + unsure + coverage_text(result);
  if (conclusion.steady)
    return fmt::format(
               "No growth of kernel memory: the kernel's own counters do not grow. As much is freed as allocated here: "
               "{}.",
               cause_words(judgement.findings[*conclusion.steady])) +
           coverage_text(result) + visible_text(result);
  return "No growth of kernel memory: nothing rose more than random allocations and frees can explain." +
         coverage_text(result) + visible_text(result);
}

// Returns the reason why the trace does not show whether anything grows.
std::string why_no_trace_helps(const InvestigationResult& result) {
  const double seconds = std::max(result.trace_seconds, result.judgement.seen_seconds);
  switch (result.conclusion.unclear) {
    case Unclear::short_trace:
      return fmt::format("the trace of {:.1f} s is too short: at least {:.0f} s are needed", seconds,
                         result.conclusion.least_seconds);
    case Unclear::lossy_trace:
      return fmt::format("the trace{} lost {} events, and the remaining events show no growth that can be judged",
                         seconds > 0 ? fmt::format(" of {:.1f} s", seconds) : "", result.lost_events);
    default: return fmt::format("nothing in the trace of {:.1f} s can be judged", seconds);
  }
}

std::string why_unclear(const InvestigationResult& result) {
  const Conclusion& conclusion = result.conclusion;
  const std::vector<StateGrowth>& states = result.judgement.states;
  const std::string cut_short = result.cut_short.empty() ? "" : result.cut_short + ", and ";
  switch (conclusion.unclear) {
    case Unclear::order: return "the order of the copies is not certain";
    case Unclear::unreadable_trace: return "the recording of the allocations cannot be read";
    case Unclear::short_trace:
    case Unclear::lossy_trace:
    case Unclear::empty_trace:
      return fmt::format("{}; without a usable trace, at least {} states of the kernel's memory are needed",
                         why_no_trace_helps(result), Trend::kFewestValues);
    case Unclear::no_times: return fmt::format("the times of the {} copies are unknown", result.timeless_states);
    case Unclear::few_states:
      return fmt::format("{}at least {} states of the kernel's memory, or a trace, are needed", cut_short,
                         Trend::kFewestValues);
    case Unclear::short_watch:
      return fmt::format("{}{:.1f} s are too short, at least {:.0f} s are needed", cut_short, result.seconds,
                         conclusion.least_seconds);
    case Unclear::unconfirmed:
      return fmt::format(
          "possible growth is below; to confirm it, at least {} states of the kernel's memory are needed",
          Trend::kFewestValues);
    case Unclear::rarely_read:
      return fmt::format(
          "the kernel's memory counters were read fewer than {} times, perhaps because the machine was busy",
          Trend::kFewestValues);
    case Unclear::late_rise:
      return fmt::format("something rises steadily {}, but too briefly to be certain",
                         late_growth_text(states[*conclusion.state]));
    case Unclear::rise_unfollowed:
      return fmt::format("{} rose strongly, to {}, after {:.0f} s, when allocations were no longer followed",
                         name_in_words(states[*conclusion.state]), bytes_text(states[*conclusion.state].last),
                         result.judgement.seen_until_seconds);
    case Unclear::rise_by_account:
      return fmt::format(
          "{} rises all the time, by {}/s, but among {} counters, this may be chance, and its allocator was not "
          "traced",
          name_in_words(states[*conclusion.state]), bytes_text(states[*conclusion.state].trend.bytes_per_s),
          result.judgement.followed);
    case Unclear::half_covered:
      return fmt::format("{} for only {:.1f} s of {:.1f} s ({}){}",
                         conclusion.coverage.by_allocations ? "allocations were followed" : "counters were read",
                         conclusion.coverage.covered_seconds, conclusion.coverage.asked_seconds,
                         percent_text(conclusion.coverage.share()),
                         result.cut_short.empty() ? "" : ", because " + result.cut_short);
    case Unclear::mostly_lost:
      return fmt::format("the trace lost {} events and has only {}", result.lost_events, result.trace_events);
    case Unclear::cut_short: return result.cut_short + ", before there was enough data";
    case Unclear::only_sums: break;
  }
  return "neither allocations nor the kernel's counters of slab caches could be read, only totals";
}

// Returns a sentence about the kernel counters that rose. It is empty if no kernel counters were read.
std::string sources_differ_text(const InvestigationResult& result) {
  const std::vector<StateGrowth>& states = result.judgement.states;
  if (states.empty()) return {};
  std::vector<std::string> rises;
  for (const std::size_t rise : result.conclusion.rose_most)
    rises.push_back(
        fmt::format("{} rose by {}", name_in_words(states[rise]), bytes_text(states[rise].last - states[rise].first)));
  const std::size_t count = states.front().values.size();
  return fmt::format(" From the first to the last of {} states, {:.1f} s, {}.", count,
                     static_cast<double>(count - 1) * states.front().step_seconds,
                     rises.empty() ? "nothing rose" : fmt::format("{}", fmt::join(rises, ", ")));
}

// Returns a sentence about how to get an answer if the evidence covers too little of the time.
std::string advice_text(const InvestigationResult& result) {
  if (result.conclusion.unclear == Unclear::mostly_lost)
    return " Record again with larger buffers: `kmemtrace record -b 64M`, then `kmemtrace leaks`.";
  if (result.conclusion.unclear != Unclear::half_covered) return {};
  if (!result.complete) return " Repeat it without an interruption.";
  return result.watched ? " Repeat it with a larger CPU budget: --cpu 20." : " Record for the whole time.";
}

// Returns a sentence about the rise of Shmem. Empty if it did not rise much.
std::string shared_memory_text(const Judgement& judgement) {
  if (!judgement.shared_memory) return {};
  const SharedMemoryRise& rise = *judgement.shared_memory;
  return fmt::format(
      " Shmem (shared memory and tmpfs, not judged) rose by {}, from {} to {}; the kernel can reclaim it only with "
      "swap.",
      bytes_text(rise.last - rise.first), bytes_text(rise.first), bytes_text(rise.last));
}

}  // namespace

std::string process_words(const FindingProcess& process) {
  if (process.process == 0) return process.task;
  const char* const ended = process.ended ? ", ended" : "";
  // the name of the process is unknown
  if (process.task.empty()) return fmt::format("process {}{}", process.process, ended);
  return fmt::format("{} (pid {}{})", process.task, process.process, ended);
}

std::string process_words(const GrowthFinding& finding) {
  if (finding.processes.empty()) return {};
  const FindingProcess& first = finding.processes.front();
  if (!finding.is_of_many_processes() || first.process == 0) return process_words(first);
  const std::string ended = finding.all_processes_ended() ? ", all ended"
                            : finding.ended_processes > 0 ? fmt::format(", {} ended", finding.ended_processes)
                                                          : "";
  if (first.task.empty()) return fmt::format("{} processes{}", finding.process_count, ended);
  return fmt::format("{} ({} processes{})", first.task, finding.process_count, ended);
}

std::string cause_words(const GrowthFinding& finding) {
  std::string by;
  if (const std::string process = process_words(finding); !process.empty()) by = ", by " + process;
  return fmt::format("{}/s in {}{}{}", bytes_text(finding.trend.bytes_per_s), finding.function,
                     finding.call_site.empty() ? "" : fmt::format(" (call site {})", finding.call_site), by);
}

std::string conclusion_words(const InvestigationResult& result) {
  const std::string shared = shared_memory_text(result.judgement);
  switch (result.conclusion.verdict) {
    case GrowthVerdict::grows:
      return growth_text(result) + other_growth_text(result.conclusion, result.judgement.states) + shared;
    case GrowthVerdict::no_growth:
      return no_growth_text(result) + " User memory (anonymous memory, page cache, Shmem) is not judged." + shared;
    case GrowthVerdict::cannot_tell: break;
  }
  return fmt::format("Cannot tell whether anything grows: {}.{}{}{}", why_unclear(result), sources_differ_text(result),
                     advice_text(result), shared);
}

std::string words_of(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::rises_evenly:
      return reason.ground == Ground::recording
                 ? "In the recording, its live memory rises far more steadily than chance allows"
                 : "In the samples, its live memory rises far more steadily than chance allows";
    case ReasonKind::rises_unevenly: return "Its own live memory rises no more steadily than chance allows";
    case ReasonKind::seen_before_recording: return "Samples from before the recording also show this growth";
    case ReasonKind::hardly_seen_before_recording:
      return "Samples from before the recording show far less of this growth: it started recently, or these objects "
             "live longer than the recording";
    case ReasonKind::account_confirms: return "The kernel's own counters confirm its growth";
    case ReasonKind::account_grows:
      return "The kernel's own counters grow with it, but no more steadily than chance allows";
    case ReasonKind::account_does_not_grow:
      return "The kernel's own counters do not grow with it: other code frees as much";
    case ReasonKind::held_by_new_processes:
      return "Most of it belongs to processes that started during the investigation and still run: the number of "
             "processes grows";
    case ReasonKind::unknown_cache:
      return "The cache of these objects is unknown, and the kernel's counters show no cache of that object size with "
             "such growth";
    case ReasonKind::too_slow_or_short:
      return "The growth is too slow, or was watched too briefly, for another source to confirm it: watch longer";
    case ReasonKind::not_all_recorded:
      return "The recording covers only some of its caches: for the other caches, its call sites are from samples";
    case ReasonKind::holds_most:
      return fmt::format(
          "The kernel's own counters confirm growth of its cache, and these objects are {:.0f}% of the live memory "
          "seen in this cache",
          reason.percent);
    case ReasonKind::too_little_seen: break;
  }
  return "Its allocations were seen too rarely or too briefly to show growth of its live memory";
}

std::string full_name_of(const SlabKind& kind) {
  std::string name = name_of(kind);
  if (has_structure(kind)) name += fmt::format(" (struct {})", kind.structure.name);
  if (kind.module == "vmlinux") return name + " of the kernel itself";
  return kind.module.empty() ? name + " of an unknown module" : fmt::format("{} of module {}", name, kind.module);
}

std::string words_of(const LargeCache& cache) {
  const bool is_unexplained = cache.growth == CacheGrowth::unexplained;
  const char* const what = cache.growth == CacheGrowth::none ? "Large slab cache that does not grow"
                           : !is_unexplained                 ? "Large slab cache"
                           : cache.untested_site.empty()     ? "Growing slab cache without a known call site"
                                                             : "Growing slab cache without a confirmed call site";
  std::string words =
      fmt::format("{}: {}, {}, {:.1f}% of memory.", what, cache.name, humane_bytes(cache.bytes), 100 * cache.share);
  if (!cache.untested_site.empty())
    words += fmt::format(
        " Most of its new objects are from {}, which is not judged: the kernel may free them on paths without a "
        "tracepoint.",
        cache.untested_site);
  if (!cache.kinds || cache.kinds->kinds.empty()) return words;
  const SlabKind& kind = cache.kinds->kinds.front();
  return words + fmt::format(" {:.0f}% of its objects, {}, are {}.", 100 * kind.share, humane_bytes(kind.bytes),
                             full_name_of(kind));
}

std::string_view words_of(NoAccount why) {
  switch (why) {
    case NoAccount::not_kept: return "the kernel has no counter for it";
    case NoAccount::not_copied: return "the copied files have no counter for it";
    case NoAccount::no_such_cache: return "slabinfo has no cache with that name";
    case NoAccount::slabinfo_not_read: return "slabinfo could not be read";
    case NoAccount::slabinfo_not_copied: break;
  }
  return "slabinfo is not among the copied files";
}

}  // namespace kmt
