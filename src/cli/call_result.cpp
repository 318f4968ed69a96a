// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/call_result.hpp"

#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "symbols/running_types.hpp"

namespace kmt {

void say_whose_types(const std::string& file, const TraceInfo& info) {
  if (file.empty()) return;
  const auto build_id = info.notes.find("kernel_build_id");
  const std::optional<bool> same = is_of_kernel(file, build_id != info.notes.end() ? build_id->second : "");
  if (!same)
    fmt::print(stderr, "note: nothing here tells whether the types in {} are those of the kernel that was traced{}\n",
               printable(file), info.kernel.empty() ? "" : ", " + printable(info.kernel));
  else if (!*same)
    fmt::print(stderr, "warning: the types in {} are of another kernel than the one that was traced\n",
               printable(file));
}

CallGraphResult take_calls(CallGraph& graph, const OpenedTrace& trace, const CallTypeSource& types) {
  CallGraphResult result = graph.take();
  result.findings.merge(trace.symbols().findings());
  result.findings.merge(types.findings());
  const auto& notes = trace.info().notes;
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
