// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/call_result.hpp"

#include <set>
#include <string>

namespace kmt {

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
