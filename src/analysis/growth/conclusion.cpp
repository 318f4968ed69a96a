// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/conclusion.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/growth/investigation.hpp"
#include "analysis/growth/rise.hpp"
#include "analysis/series/trend.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

constexpr double kMuchExplained = 0.5;  // of what something grows by: of less hardly anything is

bool is_plain(std::string_view text, std::string_view marks) {
  return !text.empty() && std::ranges::all_of(text, [marks](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           marks.find(c) != std::string_view::npos;
  });
}

// As a shell takes it for one word, and no command for an option.
std::string shell_word(const std::string& path) {
  std::string name = path.starts_with('-') ? "./" + path : path;
  if (is_plain(name, "/._-+,:@%=")) return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string bytes_text(double bytes) {
  constexpr double kMost = 1e18;  // of another's evidence.json: 64 bits hold it
  return humane_bytes(static_cast<std::uint64_t>(std::clamp(bytes, 0.0, kMost)));
}

bool may_grow(const Judgement& judgement) {
  return std::ranges::any_of(judgement.findings,
                             [](const GrowthFinding& finding) { return finding.certainty != Certainty::weak; });
}

std::string name_in_words(const StateGrowth& state) {
  if (state.name == kUnaccounted) return "what nobody accounts for";
  return state.cache ? "the slab cache " + with_merged(state.shown_name(), state.merged_with) : state.name;
}

std::string why_unnamed(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  if (judgement.seen_seconds == 0) return ". Its allocator was not found: allocations could not be seen.";
  const std::string followed =
      fmt::format("allocations were followed for {:.1f} s of {:.1f} s", judgement.seen_seconds, result.seconds);
  if (!judgement.saw_allocations) return fmt::format(". Its allocator was not found: {}, too short to tell.", followed);
  if (may_grow(judgement)) return ". No call site is surely to blame; what may be is below.";
  return fmt::format(". But its allocator was not found: no call site rises steadily as fast{}.",
                     judgement.seen_seconds < kEndedEarly * result.seconds ? ", and " + followed : "");
}

// Of what surely grows, while no call site is surely to blame.
std::string said_of_unnamed(const StateGrowth& state, const InvestigationResult& result) {
  return fmt::format("The kernel's memory surely grows: {} by {}/s, from {} to {}{}", name_in_words(state),
                     bytes_text(state.trend.bytes_per_s), bytes_text(state.first), bytes_text(state.last),
                     why_unnamed(result));
}

const StateGrowth* find_late(const std::vector<StateGrowth>& states, bool sure) {
  const auto late = std::ranges::find_if(
      states, [sure](const StateGrowth& state) { return state.late && (state.late->sure || !sure); });
  return late == states.end() ? nullptr : &*late;
}

std::string said_of_late(const StateGrowth& state) {
  return fmt::format("since about {:.0f} s: {} by {}/s, from {} to {}", state.late->since_seconds, name_in_words(state),
                     bytes_text(state.late->bytes_per_s), bytes_text(state.first), bytes_text(state.last));
}

// What began, or was no longer followed, before the time was over.
std::string why_it_may_grow_since(const Judgement& judgement) {
  if (const StateGrowth* const late = find_late(judgement.states, false); late != nullptr)
    return fmt::format("something rises evenly {}, too short to be sure", said_of_late(*late));
  const auto rose = std::ranges::find_if(judgement.states, &StateGrowth::rose_unfollowed);
  if (rose == judgement.states.end()) return {};
  return fmt::format("{} rose by much, to {}, after allocations were no longer followed at {:.0f} s",
                     name_in_words(*rose), bytes_text(rose->last), judgement.seen_until_seconds);
}

// Of the account alone: what never falls, though no more evenly than one of so many lines may by chance.
std::string why_account_is_not_enough(const Judgement& judgement) {
  constexpr double kHardlyEverFalls = 0.999;  // the confidence of values that never do is above it
  if (judgement.saw_allocations) return {};
  const auto rising = std::ranges::find_if(judgement.states, [](const StateGrowth& state) {
    return state.above && !state.is_recorders && state.trend.confidence >= kHardlyEverFalls;
  });
  if (rising == judgement.states.end()) return {};
  return fmt::format(
      "{} rises all the time, by {}/s, but no more evenly than one of {} lines may by chance, and who allocates was "
      "not "
      "seen",
      name_in_words(*rising), bytes_text(rising->trend.bytes_per_s), judgement.followed);
}

// Why a trace that is there, in part or too short, leaves nothing to judge.
std::string why_no_trace_tells(const InvestigationResult& result) {
  if (result.watched && result.trace_seconds == 0) return {};  // what was seen are samples
  const double seconds = std::max(result.trace_seconds, result.judgement.seen_seconds);
  if (seconds == 0 && result.lost_events == 0) return {};
  if (result.judgement.seen_seconds < kShortestRecordingSeconds && result.lost_events == 0)
    return fmt::format("the trace of {:.1f} s is too short: {:.0f} s are the least", seconds,
                       kShortestRecordingSeconds);
  if (result.lost_events > 0)
    return fmt::format("of the trace{} {} events were lost, and what is left shows no growth that can be judged",
                       seconds > 0 ? fmt::format(" of {:.1f} s", seconds) : "", result.lost_events);
  return fmt::format("nothing in the trace of {:.1f} s can be judged", seconds);
}

// By the kernel's account, and more than all that is surely to blame; nullptr: nothing.
const StateGrowth* find_unexplained(const Judgement& judgement) {
  double found = 0;
  for (const GrowthFinding& finding : judgement.findings)
    if (finding.certainty == Certainty::sure) found += finding.trend.bytes_per_s;
  const auto rest = [](const StateGrowth& state) { return state.trend.bytes_per_s - state.explained_bytes_per_s; };
  const StateGrowth* most = nullptr;
  for (const StateGrowth& state : judgement.states)
    if (state.sure && !state.reclaimable && rest(state) > found && (most == nullptr || rest(state) > rest(*most)))
      most = &state;
  return most;
}

std::string said_of_unexplained(const StateGrowth* state) {
  if (state == nullptr) return {};
  return fmt::format(" But most of what grows is not explained by that: {} grows by {}/s, from {} to {}.",
                     name_in_words(*state), bytes_text(state->trend.bytes_per_s), bytes_text(state->first),
                     bytes_text(state->last));
}

// What else surely grows, of which hardly anything is explained: next to what is told, more than what comes with that,
// as small objects do with files. Sums are told of by what they are sums of.
std::string said_of_others(const Judgement& judgement, const StateGrowth* told) {
  constexpr double kLeastPart = 0.2;
  constexpr std::size_t kMost = 3;
  double fastest = told != nullptr ? told->trend.bytes_per_s : 0;
  for (const GrowthFinding& finding : judgement.findings)
    if (finding.certainty == Certainty::sure) fastest = std::max(fastest, finding.trend.bytes_per_s);
  std::vector<std::string> others;
  for (const StateGrowth& state : judgement.states)
    if (&state != told && state.sure && !state.reclaimable && state.name != "SUnreclaim" && others.size() < kMost &&
        state.explained_bytes_per_s < kMuchExplained * state.trend.bytes_per_s &&
        state.trend.bytes_per_s >= kLeastPart * fastest)
      others.push_back(fmt::format("{} by {}/s", name_in_words(state), bytes_text(state.trend.bytes_per_s)));
  if (others.empty()) return {};
  return fmt::format(" Besides, {} surely {}, for the most part not explained.", fmt::join(others, ", "),
                     others.size() == 1 ? "grows" : "grow");
}

// Of no growth above the threshold, which something that surely grows may be below.
std::string said_of_none(const Judgement& judgement) {
  const auto slow = std::ranges::find_if(judgement.states, &StateGrowth::slow);
  if (slow == judgement.states.end())
    return may_grow(judgement) ? "Nothing surely grows. What may grow is below."
                               : "No growth: nothing rose more than what comes and goes at random may do.";
  return fmt::format(
      "Nothing surely grows faster than --threshold, {} an hour.{} Slower, {} surely grows by {} an hour, "
      "from {} to {}.",
      bytes_text(3600 * judgement.threshold_bytes_per_s), may_grow(judgement) ? " What may grow is below." : "",
      name_in_words(*slow), bytes_text(3600 * slow->trend.bytes_per_s), bytes_text(slow->first),
      bytes_text(slow->last));
}

// What began while it was watched, beside what is told.
std::string said_of_late_others(const Judgement& judgement, const StateGrowth* told) {
  for (const StateGrowth& state : judgement.states)
    if (&state != told && state.late && state.late->sure && state.name != "SUnreclaim" &&
        state.explained_bytes_per_s < kMuchExplained * state.late->bytes_per_s)
      return fmt::format(" Besides, something surely grows {}, not explained.", said_of_late(state));
  return {};
}

// Nobody traces a task's stack; it comes and goes with the task.
std::string said_of_stacks(const Judgement& judgement) {
  const auto is_of_tasks = [](const GrowthFinding& finding) {
    return finding.certainty != Certainty::weak &&
           std::ranges::find(finding.caches, "task_struct", &FindingCache::name) != finding.caches.end();
  };
  const auto stacks = std::ranges::find(judgement.states, "KernelStack", &StateGrowth::name);
  if (stacks == judgement.states.end() || stacks->bytes_per_s() <= 0 ||
      std::ranges::none_of(judgement.findings, is_of_tasks))
    return {};
  return fmt::format(" Each task has a stack, too: KernelStack grows by {}/s.", bytes_text(stacks->bytes_per_s()));
}

// What rose at all, where it cannot be told whether that goes on; empty: nothing changed, or no two states are known.
std::string said_of_difference(const std::vector<StateGrowth>& states) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> rises;
  for (const StateGrowth& state : states)
    if (rises.size() < kMost && !state.reclaimable && !state.is_recorders && state.last - state.first >= kLeastRise)
      rises.push_back(fmt::format("{} rose by {}", name_in_words(state), bytes_text(state.last - state.first)));
  if (states.empty()) return {};
  const std::size_t count = states.front().values.size();
  return fmt::format(" From the first to the last of {} states, {:.1f} s, {}.", count,
                     static_cast<double>(count - 1) * states.front().step_seconds,
                     rises.empty() ? "nothing rose" : fmt::format("{}", fmt::join(rises, ", ")));
}

// What shows what the process of a finding holds: its open files, unless the kernel keeps that elsewhere.
std::string what_is_held(const GrowthFinding& finding) {
  const std::uint32_t process = finding.processes.front().process;
  const auto enters = [&](std::string_view call) { return finding.entry.find(call) != std::string::npos; };
  if (enters("sys_add_key") || enters("sys_request_key") || enters("sys_keyctl")) return "cat /proc/keys";
  for (const char* const kind : {"msg", "sem", "shm"})
    if (enters(fmt::format("sys_{}", kind))) return fmt::format("nsenter -t {} -i cat /proc/sysvipc/{}", process, kind);
  return fmt::format("ls -l /proc/{}/fd | tail", process);
}

// Empty: it can.
std::string why_it_cannot_be_told(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  if (result.unsure_order) return "which of the copies came first is not sure";
  if (const std::string no_trace = judgement.is_told() ? "" : why_no_trace_tells(result); !no_trace.empty())
    return fmt::format("{}; without one it takes {} states of the kernel's memory or more", no_trace,
                       Trend::kFewestValues);
  if (!judgement.is_told() && result.timeless_states >= Trend::kFewestValues)
    return fmt::format("the times of the {} copies are not known", result.timeless_states);
  if (!judgement.is_told())
    return fmt::format("{}that takes {} states of the kernel's memory or more, or a trace",
                       result.cut_short.empty() ? "" : result.cut_short + ", and ", Trend::kFewestValues);
  if (result.watched && result.seconds < kShortestToTell)
    return fmt::format("{}{:.1f} s are too short, {:.0f} s are the least",
                       result.cut_short.empty() ? "" : result.cut_short + ", and ", result.seconds, kShortestToTell);
  if (judgement.followed == 0 && may_grow(judgement))
    return fmt::format("what may grow is below, and it takes {} states of the kernel's memory or more to bear it out",
                       Trend::kFewestValues);
  if (result.watched && judgement.followed == 0)
    return fmt::format("the kernel's own account was read less than {} times, as where the machine is too busy",
                       Trend::kFewestValues);
  if (std::string since = why_it_may_grow_since(judgement); !since.empty()) return since;
  if (std::string rises = why_account_is_not_enough(judgement); !rises.empty()) return rises;
  if (judgement.saw_allocations || judgement.saw_caches) return {};
  return !result.cut_short.empty()
             ? result.cut_short + ", when too little had been seen"
             : "neither allocations nor the kernel's account of slab caches could be seen, only sums";
}

// Where nothing was surely found: what tells more than has been seen.
void add_watches(const InvestigationResult& result, std::vector<std::string>& commands) {
  const Judgement& judgement = result.judgement;
  if (!result.all_permitted) commands.emplace_back(result.by_root ? "kmemtrace list" : "sudo kmemtrace investigate");
  if (!result.by_root && !result.all_permitted) return;
  const std::string sudo = result.by_root ? "" : "sudo ";
  if (result.conclusion.verdict == GrowthVerdict::grows && judgement.seen_seconds > 0)
    commands.push_back(sudo + "kmemtrace investigate --cpu 20");  // what was left out for its cost, too
  if (judgement.saw_allocations || judgement.saw_caches || !result.complete)
    commands.push_back(
        fmt::format("{}kmemtrace investigate --for {:.0f}m", sudo, std::max(result.seconds / 60 * 5, 5.0)));
}

}  // namespace

std::optional<UnseenSource> unknown_cgroups(const InvestigationResult& result) {
  std::vector<FindingProcess> processes;
  for (const GrowthFinding& finding : result.judgement.findings)
    processes.insert(processes.end(), finding.processes.begin(), finding.processes.end());
  const auto has_none = [](const FindingProcess& process) { return process.process != 0 && process.cgroup.empty(); };
  if (processes.empty()) return std::nullopt;
  if (std::ranges::all_of(processes, has_none))
    return UnseenSource{"cgroups of processes", "neither samples nor the recording name any",
                        "samples do, and `kmemtrace record` where the kernel has cgroups of version 2"};
  // What watched knew whether version 1 accounts memory there.
  const auto is_in_root = [](const FindingProcess& process) { return process.process == 0 || process.cgroup == "/"; };
  const bool is_any = std::ranges::any_of(processes, [](const FindingProcess& one) { return one.process != 0; });
  if (result.watched || !is_any || !std::ranges::all_of(processes, is_in_root)) return std::nullopt;
  return UnseenSource{"cgroups of processes",
                      "the recording has all of them in the root, as it has inside a container, and where version 1 "
                      "accounts memory",
                      "`kmemtrace investigate` on that machine tells those of version 1 too"};
}

Conclusion conclude(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  if (const auto sure = std::ranges::count(judgement.findings, Certainty::sure, &GrowthFinding::certainty); sure > 0) {
    const StateGrowth* const unexplained = find_unexplained(judgement);
    return {GrowthVerdict::grows, (sure == 1 ? "One thing in the kernel's memory surely grows."
                                             : fmt::format("{} things in the kernel's memory surely grow.", sure)) +
                                      said_of_stacks(judgement) + said_of_unexplained(unexplained) +
                                      said_of_others(judgement, unexplained) + said_of_late_others(judgement, nullptr)};
  }
  if (const auto state = std::ranges::find_if(judgement.states, &StateGrowth::sure); state != judgement.states.end())
    return {GrowthVerdict::grows, said_of_unnamed(*state, result) + said_of_stacks(judgement) +
                                      said_of_others(judgement, &*state) + said_of_late_others(judgement, nullptr)};
  if (const StateGrowth* const late = find_late(judgement.states, true); late != nullptr)
    return {GrowthVerdict::grows,
            fmt::format("The kernel's memory surely grows {}{}", said_of_late(*late), why_unnamed(result)) +
                said_of_late_others(judgement, late)};
  if (const std::string why = why_it_cannot_be_told(result); !why.empty())
    return {GrowthVerdict::cannot_tell,
            fmt::format("It cannot be told whether anything grows: {}.{}", why, said_of_difference(judgement.states))};
  return {GrowthVerdict::no_growth, said_of_none(judgement)};
}

std::vector<std::string> next_commands(const InvestigationResult& result) {
  const bool is_live = result.cost.has_value();  // else its processes are of another machine, or gone
  const auto has_file = [&result](const char* name) {
    return !result.folder.empty() &&
           std::ranges::find(result.files, name, &InvestigationFile::name) != result.files.end();
  };
  // Of copies, those that were given: what is written of them holds no files of the kernel.
  const auto file = [&](const char* name, const std::string& copied) {
    return has_file(name) ? shell_word(result.folder + "/" + name) : copied.empty() ? "" : shell_word(copied);
  };
  const std::string sudo = result.by_root ? "" : "sudo ";
  std::vector<std::string> commands;
  const auto add = [&commands](std::string command) {
    if (std::ranges::find(commands, command) == commands.end()) commands.push_back(std::move(command));
  };
  for (const GrowthFinding& finding : result.judgement.findings) {
    if (finding.certainty == Certainty::weak || commands.size() >= 4) continue;
    const FindingProcess& process = finding.processes.front();
    if (is_live && process.process != 0) add(sudo + what_is_held(finding));
    if (is_live && !result.no_calls && is_plain(finding.function, "_."))
      add(fmt::format("{}kmemtrace graph {} -a -d 5s", sudo, finding.function));
  }
  if (is_live && (!result.judgement.found() || find_unexplained(result.judgement) != nullptr))
    add_watches(result, commands);
  if (const std::string trace = file("trace.kmt", result.copies.trace); !trace.empty())
    commands.push_back("kmemtrace leaks " + trace);
  const std::string before = file("before.kmt", result.copies.before);
  const std::string after = file("after.kmt", result.copies.after);
  if (!before.empty() && !after.empty()) commands.push_back(fmt::format("kmemtrace diff {} {}", before, after));
  return commands;
}

}  // namespace kmt
