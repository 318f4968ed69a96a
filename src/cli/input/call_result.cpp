// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/input/call_result.hpp"

#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "base/text.hpp"
#include "capture/sideband/build_ids.hpp"
#include "cli/support/say.hpp"
#include "symbols/running_types.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

namespace {

// Returns whether the types in `file` are those of the traced kernel, or nothing if this is unknown. A file of raw BTF
// has no build ID, so it is compared with the BTF of the running kernel.
std::optional<bool> is_of_traced_kernel(const std::string& file, const TraceInfo& info) {
  const std::string build_id(note_in(info.recording.notes, "kernel_build_id"));
  const std::optional<bool> same = is_of_kernel(file, build_id);
  if (same || !are_running_types(file)) return same;
  const std::string running = kernel_build_id();
  if (!build_id.empty() && !running.empty()) return build_id == running;
  utsname names{};
  ::uname(&names);
  return !info.machine.kernel.empty() && info.machine.kernel != names.release ? std::optional(false) : std::nullopt;
}

}  // namespace

void say_whose_types(const std::string& file, const TraceInfo& info, const CallTypeSource& types) {
  if (file.empty()) return;
  if (!types.is_of_file()) {
    say("note: the trace contains the types of its calls, so the types in {} are not used\n", printable(file));
    return;
  }
  const std::optional<bool> same = is_of_traced_kernel(file, info);
  if (!same)
    say("note: it is unknown whether the types in {} are from the traced kernel{}\n", printable(file),
        info.machine.kernel.empty() ? "" : ", " + printable(info.machine.kernel));
  else if (!*same)
    say("warning: the types in {} are from another kernel than the traced kernel{}\n", printable(file),
        info.machine.kernel.empty() ? "" : ", " + printable(info.machine.kernel));
}

CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types) {
  CallGraphResult result = graph.take();
  result.findings.merge(trace.symbols().findings());
  result.findings.merge(types.findings());
  const auto& notes = trace.info().recording.notes;
  if (const auto note = notes.find("refused_functions"); note != notes.end())
    result.refused = parse_refused_functions(note->second);
  std::set<std::string> seen;
  for (const GraphFunction& function : result.functions) seen.insert(function.name.substr(0, function.name.find(" [")));
  for (const RefusedFunction& refused : result.refused) seen.insert(refused.name);
  for (const std::string& function : types.recorded_functions())
    if (!seen.contains(function)) result.not_called.push_back(function);
  return result;
}

}  // namespace kmt
