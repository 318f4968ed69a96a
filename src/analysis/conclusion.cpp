// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/conclusion.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "analysis/trend.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

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

// Of what surely grows, while no call site is surely to blame.
std::string said_of_unnamed(const StateGrowth& state, const InvestigationResult& result) {
  const std::string name = state.name == kUnaccounted ? "what nobody accounts for"
                           : state.cache              ? "the slab cache " + state.name
                                                      : state.name;
  std::string words = fmt::format("The kernel's memory surely grows: {} by {}/s, from {} to {}", name,
                                  bytes_text(state.trend.bytes_per_s), bytes_text(state.first), bytes_text(state.last));
  if (!result.judgement.saw_allocations) return words + ". Its allocator was not found: allocations could not be seen.";
  return words + (may_grow(result.judgement)
                      ? ". No call site is surely to blame; what may be is below."
                      : ". But its allocator was not found: no call site rises steadily as fast.");
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
  if (!judgement.is_told())
    return fmt::format("{}that takes {} states of the kernel's memory or more, or a trace",
                       result.cut_short.empty() ? "" : result.cut_short + ", and ", Trend::kFewestValues);
  if (result.watched && result.seconds < kShortestToTell)
    return fmt::format("{}{:.1f} s are too short, {:.0f} s are the least",
                       result.cut_short.empty() ? "" : result.cut_short + ", and ", result.seconds, kShortestToTell);
  if (judgement.followed == 0 && may_grow(judgement))
    return fmt::format("what may grow is below, and it takes {} states of the kernel's memory or more to bear it out",
                       Trend::kFewestValues);
  if (judgement.saw_allocations || judgement.saw_caches) return {};
  return !result.cut_short.empty()
             ? result.cut_short + ", when too little had been seen"
             : "neither allocations nor the kernel's account of slab caches could be seen, only sums";
}

}  // namespace

Conclusion conclude(const InvestigationResult& result) {
  const Judgement& judgement = result.judgement;
  const auto sure = std::ranges::count(judgement.findings, Certainty::sure, &GrowthFinding::certainty);
  if (sure == 1) return {Verdict::grows, "One thing in the kernel's memory surely grows."};
  if (sure > 1) return {Verdict::grows, fmt::format("{} things in the kernel's memory surely grow.", sure)};
  if (const auto state = std::ranges::find_if(judgement.states, &StateGrowth::sure); state != judgement.states.end())
    return {Verdict::grows, said_of_unnamed(*state, result)};
  if (const std::string why = why_it_cannot_be_told(result); !why.empty())
    return {Verdict::cannot_tell, "It cannot be told whether anything grows: " + why + "."};
  return {Verdict::no_growth, may_grow(judgement)
                                  ? "No growth for sure. What may grow is below."
                                  : "No growth: nothing rose more than what comes and goes at random may do."};
}

std::vector<std::string> next_commands(const InvestigationResult& result) {
  const bool is_live = result.cost.has_value();  // else its processes are of another machine, or gone
  const auto has_file = [&result](const char* name) {
    return !result.folder.empty() &&
           std::ranges::find(result.files, name, &InvestigationFile::name) != result.files.end();
  };
  const auto file = [&result](const char* name) { return shell_word(result.folder + "/" + name); };
  std::vector<std::string> commands;
  for (const GrowthFinding& finding : result.judgement.findings) {
    if (finding.certainty == Certainty::weak || commands.size() >= 4) continue;
    const FindingProcess& process = finding.processes.front();
    if (is_live && process.process != 0) commands.push_back(what_is_held(finding));
    if (!result.no_calls && is_plain(finding.function, "_."))
      commands.push_back(fmt::format("kmemtrace graph {} -a -d 5s", finding.function));
  }
  if (result.conclusion.verdict == Verdict::grows && !result.judgement.found() && is_live)
    commands.emplace_back("kmemtrace investigate --cpu 20");  // what was left out for its cost, too
  if (is_live && !result.judgement.found() && !result.judgement.saw_allocations && !result.judgement.saw_caches &&
      result.complete)
    commands.emplace_back("sudo kmemtrace investigate");
  else if (!result.judgement.found() && result.seconds > 0 && is_live)
    commands.push_back(fmt::format("kmemtrace investigate --for {:.0f}m", std::max(result.seconds / 60 * 5, 5.0)));
  if (has_file("trace.kmt")) commands.push_back("kmemtrace leaks " + file("trace.kmt"));
  if (has_file("before.kmt") && has_file("after.kmt"))
    commands.push_back(fmt::format("kmemtrace diff {} {}", file("before.kmt"), file("after.kmt")));
  return commands;
}

}  // namespace kmt
