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
  kmemtrace flamegraph big.kmt --metric live -o live.svg             what was not freed
  kmemtrace flamegraph big.kmt --by caller-first -o callers.svg      who allocates, and for which caller
  kmemtrace flamegraph after.kmt --diff before.kmt -o change.svg     red grew, green shrank
  kmemtrace flamegraph trace.dat --call-paths -o calls.svg           by calls that ftrace's function_graph recorded
  kmemtrace flamegraph big.kmt --cache dentry --title dentries -o dentries.svg

The width of a frame is the memory allocated in it and in all functions that it calls. Allocators stand side by side. Do
not add them up: slabs are made of pages. Percentages are of the frame's own allocator. Peaks of several stacks are
from different times, so their frames say "at most". At most 10,000 frames are drawn, the largest ones. In a browser
the picture is as wide as the window; a click or Enter zooms, "all" or Escape goes back, / or Ctrl+F searches, Tab and
arrow keys move between frames. If the trace, or one of two compared traces, has no stacks, each call site is a frame.

{}

Exit status:
  0    drawn
  2    wrong usage, or a file cannot be read or written
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the picture covers the part that was read, and says so)";

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

// FILE's side, and BASE's if given and FILE was read to its end. Call sites serve if only one of two traces has stacks.
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
  if (by_stack != alike) {  // stacks begin late
    by_stack = alike;
    sides = read();
  }
  if (!by_stack) say("note: only {} has stacks: call sites are compared\n", own_stacks ? "FILE" : "BASE");
  return sides;
}

int run(const FlamegraphArguments& options) {
  FlamegraphOptions view;
  view.metric = metric_named(options.metric);
  view.callers_first = options.by == "caller-first";
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
  if (graph.frames == 0) say("note: the picture is empty: nothing was {} among the selected events\n", options.metric);
  if (graph.left_out > 0)
    say("note: the {} smallest of {} frames are not drawn\n", humane_count(graph.left_out),
        humane_count(graph.left_out + graph.frames));
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
                 "Draw stack (bottom up) or caller-first, an icicle (default: stack)\n"
                 "An icicle has the allocating function at the top and its callers below.",
                 {.words = {"stack", "caller-first"}});
  command.option("--diff", &options->base, "BASE",
                 "Colour growth since the trace BASE red, shrinkage green\nWidths are those of FILE; frames that only "
                 "BASE has are not drawn.");
  command.option("--title", &options->title, "TEXT", "Set the title (default: the trace's name)");
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  return command;
}

}  // namespace kmt
