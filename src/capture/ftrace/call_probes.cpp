// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/call_probes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/ftrace/event_filters.hpp"
#include "capture/tracefs/probe_definitions.hpp"
#include "capture/tracefs/probe_events.hpp"
#include "trace/calls/refused_functions.hpp"

namespace kmt {

namespace {

// Maximum number of open calls of all functions together. The kernel reserves about 100 bytes in advance for each open
// call.
constexpr std::size_t kOpenCalls = 65536;
constexpr std::size_t kMostOpenCalls = 4096;  // KRETPROBE_MAXACTIVE_MAX, kernel/trace/trace_kprobe.c

}  // namespace

CallProbes::CallProbes(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
                       KernelDescription& kernel)
    : tracefs_(tracefs), instance_(instance), group_(instance.probe_group()) {
  const std::optional<ProbeMachine> machine = probe_machine(kernel.machine);
  if (!machine) throw Error("The registers of this architecture are unknown", ExitCode::unsupported);
  if (calls.functions.size() > kMostProbedFunctions)
    throw Error(fmt::format("{} functions are too many for kprobe events (at most {})", calls.functions.size(),
                            kMostProbedFunctions),
                ExitCode::unsupported)
        .hint(
            "Select fewer functions. More functions require BPF probes (Linux 5.19 or later built with CONFIG_FPROBE) "
            "or function_graph (Linux 6.11 or later)");
  const auto open_calls = static_cast<unsigned>(std::min(kOpenCalls / calls.functions.size(), kMostOpenCalls));
  const std::vector<ProbeDefinition> definitions = define_probes(group_, calls.functions, *machine, open_calls);
  std::vector<RefusedFunction> refused;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const std::string& name = calls.functions[i].name;
    try {
      add_probe_event(tracefs, definitions[i].exit);
    } catch (const Error&) {
      omitted_.push_back(name);
      refused.push_back({name, "the kernel allows no kprobe: " + last_refusal(tracefs)});
      continue;
    }
    std::size_t probes = 1;
    std::vector<std::string> lines = definitions[i].values;
    lines.insert(lines.begin(), definitions[i].entry);
    for (const std::string& line : lines) {
      try {
        add_probe_event(tracefs, line);
      } catch (const Error&) {
        throw Error(fmt::format("The kernel refuses a kprobe for {}: {}", name, last_refusal(tracefs)),
                    ExitCode::unsupported)
            .hint(fmt::format("Do not select {}, or show fewer of its values (--show)", name));
      }
      ++probes;
    }
    functions_.push_back({name, probes});
  }
  if (functions_.empty())
    throw Error(fmt::format("The kernel allows no kprobe for {}: {}", first_of(omitted_), last_refusal(tracefs)),
                ExitCode::unsupported);
  kernel.call_types = calls.types;
  if (!refused.empty()) kernel.notes["refused_functions"] = refused_functions_text(refused);
  const std::string folder = fmt::format("{}/events/{}", tracefs, group_);
  for (const std::string& event : names_in(folder))
    if (auto text = try_read_file(fmt::format("{}/{}/format", folder, event)))
      kernel.formats.push_back({"kmemtrace", std::move(*text)});
}

void CallProbes::enable(const std::vector<pid_t>& omitted) const {
  if (!omitted.empty()) {
    if (const auto without = filter_without(omitted))
      instance_.set(fmt::format("events/{}/filter", group_), *without);
    else
      instance_.set("set_event_notrace_pid", fmt::format("{}", fmt::join(omitted, " ")));
  }
  instance_.set(fmt::format("events/{}/enable", group_), "1");
}

std::string CallProbes::name() const {
  if (omitted_.empty()) return "kprobe events";
  return fmt::format("kprobe events, but not for {}, because the kernel allows no probe there", first_of(omitted_));
}

// Returns the number of missed calls of each function. If too many calls of a function are open, the kernel misses
// exits. Linux 5.10 does not count these exits.
std::optional<MissedCounts> CallProbes::missed() const {
  const std::vector<ProbeCounts> counts =
      parse_probe_counts(try_read_file(tracefs_ + "/kprobe_events").value_or(""),
                         try_read_file(tracefs_ + "/kprobe_profile").value_or(""), group_);
  MissedCounts missed;
  std::size_t next = 0;
  for (const Probed& probed : functions_) {
    if (next + probed.probes > counts.size()) return std::nullopt;
    missed[probed.function] += missed_calls(std::span(counts).subspan(next, probed.probes));
    next += probed.probes;
  }
  return next == counts.size() ? std::optional(missed) : std::nullopt;
}

}  // namespace kmt
