// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/function_graph.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/tracefs/arguments_option.hpp"

namespace kmt {

namespace {

constexpr const char* kArguments = "options/funcgraph-args";

// Returns the name as in available_filter_functions: "name [module]".
std::string line_of(const TracedFunction& function) {
  return function.module.empty() ? function.name : fmt::format("{} [{}]", function.name, function.module);
}

// Selects functions by their positions in the kernel's list. Selection by name would take seconds for a hundred names:
// the kernel compares each with all functions. The list has only names, so all functions of a name are traced.
void set_functions(const std::string& tracefs, const TracefsInstance& instance,
                   const std::vector<TracedFunction>& functions) {
  std::set<std::string> wanted;
  for (const TracedFunction& function : functions) wanted.insert(line_of(function));
  const std::string list = read_file(tracefs + "/available_filter_functions");
  std::string places;
  std::size_t place = 0;  // number of the line in the kernel's list, counted from 1
  for (const std::string_view line : split(list, '\n'))
    if (++place; wanted.contains(std::string(line))) places += fmt::format("{} ", place);
  const std::string path = instance.file("set_ftrace_filter");
  write_all(open_file(path, O_WRONLY | O_TRUNC).get(), places, path);

  std::set<std::string> traced;
  const std::string set = read_file(path);
  for (const std::string_view line : split(set, '\n'))
    if (!line.empty()) traced.emplace(line);
  if (traced != wanted)
    throw Error("The kernel's list of functions changed: a module was loaded or unloaded").hint("Try again");
}

bool records_results(const KernelDescription& kernel) {
  return std::ranges::any_of(kernel.formats, [](const FormatText& format) {
    return format.system == "ftrace" && format.text.starts_with("name: funcgraph_exit\n") &&
           format.text.find(" retval;") != std::string::npos;
  });
}

}  // namespace

FunctionGraph::FunctionGraph(const std::string& tracefs, const TracefsInstance& instance, const RecordedCalls& calls,
                             KernelDescription& kernel)
    : instance_(instance) {
  set_functions(tracefs, instance, calls.functions);
  instance.set("current_tracer", "function_graph");
  kernel.call_types.btf = calls.types.btf;  // function_graph cannot record values, so only `btf` is set
  const bool has_arguments = instance.has(kArguments);
  name_ = fmt::format("ftrace's function_graph{}", has_arguments && records_results(kernel) ? ""
                                                   : has_arguments           ? ", which records no results here"
                                                   : records_results(kernel) ? ", which records no arguments here"
                                                                             : ", which records only times here");
  if (has_arguments) set_arguments_option(tracefs, instance.path());
}

void FunctionGraph::leave_out(const std::vector<pid_t>& threads) const {
  if (!threads.empty()) instance_.set("set_ftrace_notrace_pid", fmt::format("{}", fmt::join(threads, " ")));
}

}  // namespace kmt
