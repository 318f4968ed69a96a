// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace flamegraph
#include "views/html/flamegraph.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/damage_note.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/stack_metric_option.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/result_file.hpp"
#include "cli/support/say.hpp"

namespace kmt {

namespace {

struct FlamegraphArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string output;
  std::string metric = "allocated";
  std::string by = "stack";
  std::string title;
  std::string base;
};

constexpr const char* kFlamegraphFooter = R"(Examples:
  kmemtrace record --stacks --duration 10s && kmemtrace flamegraph -o memory.svg
  kmemtrace flamegraph big.kmt --metric live -o live.svg             memory that was not freed
  kmemtrace flamegraph big.kmt --by icicle -o callers.svg            allocating functions above their callers
  kmemtrace flamegraph after.kmt --diff before.kmt -o change.svg     growth is red, shrinkage is green
  kmemtrace flamegraph trace.dat --call-paths -o calls.svg           uses calls recorded by ftrace's function_graph
  kmemtrace flamegraph big.kmt --cache dentry --title dentries -o dentries.svg

The width of a frame shows the memory allocated in the function and in all functions that it calls. Each allocator has a
separate part of the picture. Do not add these parts, because slabs consist of pages. Percentages are shares of the
total of the frame's allocator. Peaks of several stacks are from different times, so their frames are marked "at most".
Only the 10,000 largest frames are drawn. In a browser, the picture is as wide as the window. A click or Enter zooms,
"all" or Escape goes back, / or Ctrl+F searches, and Tab and arrow keys move between frames. If the trace has no stacks,
each call site is a frame. With --diff, each call site is also a frame if only one of the two traces has stacks.

{}

Exit status:
  0    drawn
  2    wrong usage, or a file cannot be read or written
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the picture covers the part that was read, and states this)";

struct Side {
  StackProfile profile;
  Findings findings;
};

Side read_side(const AnalyseOptions& analyse_options, const FilterOptions& filter, bool by_stack) {
  ReportRequest request;
  request.filter = filter_of(filter);
  request.by = stack_profile_keys(StackLabels::none, by_stack);
  const ReportResult report = analyse(analyse_options, request);
  return {stack_profile_of(report), report.findings};
}

// Returns the profile of FILE, and the profile of BASE if it is given. Leaves out BASE if reading FILE was interrupted.
// If only one of the two traces has stacks, both profiles are by call site.
std::vector<Side> read_sides(const FlamegraphArguments& options, bool& by_stack) {
  if (options.base.empty()) return {read_side(options.analyse, options.filter, by_stack = true)};
  AnalyseOptions of_base = options.analyse;
  of_base.trace.files = {options.base};
  const auto read = [&] {
    std::vector<Side> sides = {read_side(options.analyse, options.filter, by_stack)};
    if (sides[0].profile.trace.complete) sides.push_back(read_side(of_base, options.filter, by_stack));
    return sides;
  };
  by_stack = begins_with_stacks(options.analyse) == begins_with_stacks(of_base);
  std::vector<Side> sides = read();
  if (sides.size() < 2 || !sides[1].profile.trace.complete) return sides;
  const auto has_stacks = [](const Side& side) {
    return side.profile.trace.stacks + side.profile.trace.user_stacks > 0;
  };
  const bool own_stacks = has_stacks(sides[0]);
  const bool alike = own_stacks == has_stacks(sides[1]);
  if (by_stack != alike) {  // read both again, because in one trace stacks appear only later
    by_stack = alike;
    sides = read();
  }
  if (!by_stack) say("note: only {} has stacks, so call sites are compared\n", own_stacks ? "FILE" : "BASE");
  return sides;
}

int run(const FlamegraphArguments& options) {
  FlamegraphOptions view;
  view.metric = metric_named(options.metric);
  view.callers_first = options.by != "stack";
  view.title = options.title;
  std::vector<std::string> inputs = options.analyse.trace.files;
  if (inputs.empty()) inputs = {default_trace()};
  if (!options.base.empty()) inputs.push_back(options.base);
  ResultFile file(options.output, inputs);
  bool by_stack = true;
  const std::vector<Side> sides = read_sides(options, by_stack);
  for (const Side& side : sides) say_damage(side.findings);
  view.lacks_stacks_of_one = !by_stack;
  const Flamegraph graph = flamegraph(sides[0].profile, sides.size() > 1 ? &sides[1].profile : nullptr, view);
  file.write(graph.svg);
  file.finish();
  if (graph.frames == 0)
    say("note: the picture is empty, because the selected events have no value for --metric {}\n", options.metric);
  if (graph.omitted > 0)
    say("note: the {} smallest of {} frames are not drawn\n", humane_count(graph.omitted),
        humane_count(graph.omitted + graph.frames));
  const auto is_complete = [](const Side& side) { return side.profile.trace.complete; };
  if (std::ranges::all_of(sides, is_complete)) return 0;
  say_interrupted("picture");
  return kInterruptedExitCode;
}

}  // namespace

Command flamegraph_command() {
  const auto options = std::make_shared<FlamegraphArguments>();
  Command command{"flamegraph", "Draw allocations as a flame graph (SVG).",
                  fmt::format(fmt::runtime(kFlamegraphFooter), kWhichEventsCount),
                  [options](const Command&) { return run(*options); }};
  add_file_option(command, options->analyse.trace);
  add_output_option(command, options->output);
  add_metric_option(command, options->metric, "Set the width of frames (default: allocated)");
  command.option("--by", &options->by, "ORDER",
                 "Set the direction of the stacks (default: stack)\n"
                 "stack: the outermost caller is at the bottom. icicle: the allocating function is at the top, and its "
                 "callers are below. caller-first: the former name of icicle",
                 {.words = {"stack", "icicle", "caller-first"}});
  command.option("--diff", &options->base, "BASE",
                 "Compare with the trace BASE: colour growth red and shrinkage green\nWidths show the memory in FILE. "
                 "Frames that only BASE has are not drawn.");
  command.option("--title", &options->title, "TEXT", "Set the title (default: the name of the trace)");
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  return command;
}

}  // namespace kmt
