// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace timeline
#include "analysis/report/timeline.hpp"

#include <fmt/format.h>

#include "cli/input/analyse.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/report/series.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "results/series/thresholds.hpp"
#include "views/json/timeline.hpp"
#include "views/text/series.hpp"
#include "views/text/timeline.hpp"

namespace kmt {

namespace {

struct TimelineArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string by = "cache";
  TimelineRequest timeline;
  ResultOptions result;
};

constexpr const char* kTimelineFooter = R"(Examples:
  kmemtrace record --duration 1m && kmemtrace timeline
  kmemtrace timeline big.kmt --by call-site --top 10   the call sites with the highest peaks
  kmemtrace timeline big.kmt --by task --time +10,+20  tasks, from 10 s to 20 s after the first event
  kmemtrace timeline big.kmt --json                    the data of the plots

Live bytes are bytes that were allocated in the trace and not yet freed. Time is divided into at most 512 buckets.

The balance compares changes of the kernel's memory counters with the events. The counters are from the first and the
last sample of the recording, and the events are those between these samples. Counters and events do not measure exactly
the same memory. The text below each line explains the difference. With --by cache, caches have separate lines if the
samples include slabinfo. If only a part of the trace is selected, there is no balance.

If the trace was recorded with `record --stalls`, the average number of waiting tasks is drawn too. The table of the
longest waits has at most N rows (--top).

For a series of snapshots (`kmemtrace snapshot --every`), the changed lines of the balance sheet are drawn, with their
largest changes. Only --top and the options for the output format apply.

{}

Exit status:
  0    shown
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the result covers the part that was read, and states this)";

int timeline(const Command& command, const TimelineArguments& options) {
  if (names_series(options.analyse.trace)) {
    print_series(command, options.analyse.trace, kThresholds.usual_bytes_per_s,
                 {SeriesOrder::change, options.timeline.top}, options.result, text_series_timeline);
    return 0;
  }
  ReportRequest request;
  request.filter = filter_of(options.filter);
  request.by = parse_keys_of_live(options.by);
  request.history = true;
  TimelineRequest wanted = options.timeline;
  wanted.balances = request.filter.selects_all();
  std::vector<ReportRequest> requests = {request};
  StallsRequest stalls{.request = {.filter = request.filter, .by = {}}, .longest = wanted.top};
  TimelineResult result = timeline_of(std::move(analyse(options.analyse, requests, nullptr, &stalls).front()), wanted);
  result.stalls = std::move(stalls.result);
  print_result(options.result.json ? json_timeline(result) : text_timeline(result, stdout_style(options.result.style)));
  return result.report.trace.complete ? 0 : kInterruptedExitCode;
}

}  // namespace

Command timeline_command() {
  const auto options = std::make_shared<TimelineArguments>();
  Command command{"timeline", "Draw live memory and rates over the time of a trace.",
                  fmt::format(fmt::runtime(kTimelineFooter), kWhichEventsCount),
                  [options](const Command& given) { return timeline(given, *options); }};
  add_file_option(command, options->analyse.trace);
  command.option("--by", &options->by, "KEYS",
                 "Group allocations by KEYS (default: cache)\nThe keys are those of `kmemtrace report --by`, except "
                 "lifetime and those of frees.");
  command.option("--top,--limit", &options->timeline.top, "N",
                 "Show the N groups of each allocator with the highest peaks (default: 5)", {.range = kCounts});
  command.option(
      "--buckets", &options->timeline.buckets, "N",
      "Divide the time into at most N buckets (default: 512)\nFewer buckets give steadier rates and smaller JSON.",
      {.range = OptionRange{1, 512}});
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  add_result_options(command, options->result, "kmemtrace.timeline/1", "plain digits and full names");
  return command;
}

}  // namespace kmt
