// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace diff
#include "analysis/report/diff.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "analysis/snapshot/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/tree_option.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "reading/snapshots.hpp"
#include "views/json/diff.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/diff.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {

namespace {

struct DiffArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string a;
  std::string b;
  std::string by;
  bool tree = false;
  std::string sort;
  std::string columns;
  std::string per;
  DiffOptions view;
  bool absolute = false;
  bool exact = false;
  ResultOptions result;
};

constexpr const char* kDiffFooter = R"(Examples:
  kmemtrace diff before.kmt after.kmt            compares two kernels by call site
  kmemtrace diff slub.kmt slob.kmt --by size --sort wasted
                                                 compares the waste of two allocators by size
  kmemtrace diff a.kmt b.kmt --per task_newtask  compares the cost of each new process or thread
  kmemtrace diff a.kmt b.kmt --by cache --sort live-bytes --limit 0 --json
  kmemtrace diff morning.kmt evening.kmt         compares two snapshots (`kmemtrace snapshot -o`)
  kmemtrace diff hour.kmt                        compares the first and last snapshot of a series (`snapshot --every`)
  kmemtrace diff trace.kmt                       compares the kernel's memory at the start and end of a recording

For two snapshots, diff compares the balance sheets and the details of their lines. Only --limit and the options for the
output format apply. A folder with copies of kernel files counts as a snapshot (see `kmemtrace snapshot --from`). If one
side is a recording (.kmt), its state of memory at the end is compared with the snapshot.

Groups are matched by name. Call sites are matched by function, because offsets differ between builds. All call sites of
a function and of its copies (.isra.0, .constprop.0, .part.0, .cold) are added up. For two traces of the same kernel
build, --exact matches symbols with their offsets. Tasks are matched by name, and stacks by their list of functions.

If the traces differ in length, counts are divided by the length of each trace in seconds. With --per, counts are
divided by the number of occurrences of an event. Live bytes at the end, peaks, lifetimes and shares are not divided.

A change is ignored if it is below --threshold, if the group has fewer than --min-count allocations, or if the change
could be chance. A change in counts, bytes or mean lifetimes could be chance if it is at most three standard deviations,
assuming independent allocations. A change in percentiles could be chance if it is at most 25 %, which is their
precision, or if fewer than --min-count lifetimes are above the percentile. Waste and size are not tested. Allocations
come in bursts, so repeated recordings may differ by more than these limits. Compare two recordings of the same workload
to find the usual difference. In tables, "=" means no change.

{}

Exit status:
  0    compared, with or without changes
  2    wrong usage, or a file cannot be read
  3    not permitted to read a file
  130  interrupted by Ctrl+C; A is compared with the part of B that was read, if any)";

const Column<GroupRow>& diff_column(std::string_view key) {
  return column_named(diff_columns(), key, "No such comparable column");
}

ReportResult read_side(const std::string& file, const DiffArguments& options, const ReportRequest& request) {
  AnalyseOptions side = options.analyse;
  side.trace.files = {file};
  return analyse(side, request);
}

DiffRequest diff_request(const DiffArguments& options) {
  DiffRequest request;
  request.exact = options.exact;
  if (options.absolute && !options.per.empty())
    throw Error("--absolute and --per cannot be combined")
        .hint("--absolute compares undivided counts, but --per divides counts");
  if (options.absolute) request.per = DiffPer::trace;
  if (!options.per.empty()) request.per = options.per == "second" ? DiffPer::second : DiffPer::event;
  request.event = options.per;
  return request;
}

int diff_snapshots(const DiffArguments& options) {
  SnapshotOptions view;
  view.limit = options.view.limit;
  const bool one_file = options.b.empty();
  const SnapshotDiff result = diff(one_file ? SnapshotFile(options.a).first() : read_snapshot(options.a),
                                   read_snapshot(one_file ? options.a : options.b));
  print_result(options.result.json ? json_snapshot_diff(result, view)
                                   : text_snapshot_diff(result, view, stdout_style(options.result.style)));
  return 0;
}

int run_diff(const DiffArguments& options) {
  // A recording and a snapshot are compared by the state of kernel memory, which both have.
  const bool of_states =
      options.b.empty() ? has_snapshots(options.a) : is_snapshot(options.a) || is_snapshot(options.b);
  if (of_states) return diff_snapshots(options);
  if (options.b.empty()) {
    // throws the error for a missing file
    if (options.a != "-" && !std::filesystem::exists(options.a)) MappedFile{options.a};
    throw Error("The second trace is missing")
        .hint(
            "Name two traces: kmemtrace diff A B. A single file must contain snapshots, written by `snapshot --every` "
            "or `record`; its first and last snapshots are compared");
  }
  ReportRequest request;
  request.filter = filter_of(options.filter);
  if (!options.by.empty()) request.by = parse_group_keys(options.by);
  set_tree(request, options.tree);
  DiffOptions view = options.view;
  if (!options.sort.empty()) view.sort = &diff_column(options.sort);
  if (!options.columns.empty())
    for (const std::string_view key : split(options.columns, ',')) view.columns.push_back(&diff_column(key));
  const DiffRequest joining = diff_request(options);

  const ReportResult a = read_side(options.a, options, request);
  if (!a.trace.complete) {
    Error error("Interrupted before the second trace was read, so there is nothing to compare");
    print_error(error);
    return kInterruptedExitCode;
  }
  const ReportResult b = read_side(options.b, options, request);
  const DiffResult result = diff(a, b, joining);
  print_result(options.result.json ? json_diff(result, view)
                                   : text_diff(result, view, stdout_style(options.result.style)));
  return b.trace.complete ? 0 : kInterruptedExitCode;
}

}  // namespace

Command diff_command() {
  const auto options = std::make_shared<DiffArguments>();
  Command command{"diff", "Compare the allocations in two traces and show the differences.",
                  fmt::format(fmt::runtime(kDiffFooter), kWhichEventsCount),
                  [options](const Command&) { return run_diff(*options); }};
  command.argument("A", &options->a,
                   "The base of the comparison\nA is a .kmt, a trace.dat, or a folder with relay files, from any "
                   "machine; - is standard input. A may also be a snapshot, or a folder with copies of kernel files.",
                   {.required = true});
  command.argument("B", &options->b,
                   "The trace to compare with A\nWithout B, the first and last memory states in A are compared. A is "
                   "then a series of snapshots or a recording.");
  command.option("--by", &options->by, "KEYS",
                 "Compare groups by KEYS, nested if several: cache,call-site (default: call-site)\n`kmemtrace report "
                 "--help` lists the keys.");
  add_tree_option(command, options->tree);
  command.option(
      "--sort", &options->sort, "COLUMN",
      "Sort groups by the change of COLUMN, largest first (default: allocated)\nColumns:" + list_of(diff_columns()));
  command.option(
      "--columns", &options->columns, "LIST",
      "Also show the changes of the columns in LIST: hits,waste,peak\nLIST has the column names that --sort accepts.");
  command.option(
      "--per", &options->per, "EVENT",
      "Normalise counts per second or per EVENT (e.g. task_newtask)\nAll occurrences of EVENT within --time are "
      "counted; other options do not affect this number. If several events have the same name, use SYSTEM:NAME.");
  command.flag("--absolute", &options->absolute, "Compare counts without normalising them");
  command.flag("--exact", &options->exact,
               "Match call sites by symbol and offset\nUse this for two traces of the same kernel build.");
  command.option("--threshold", &options->view.noise.percent, "PERCENT",
                 "Ignore changes below PERCENT (default: 5)\nFor values that are percentages, PERCENT means percentage "
                 "points: from 10 % to 15 % is a change of 5.",
                 {.range = OptionRange{0, 10'000}});
  command.option("--min-count", &options->view.noise.least_count, "N",
                 "Ignore groups with fewer than N allocations in both traces (default: 10)\nFor lifetimes and shares, "
                 "ignore groups with fewer than N allocations in one of the traces.",
                 {.range = kCounts});
  add_limit_option(command, options->view.limit, "groups in each table");
  add_filter_options(command, options->filter);
  add_name_options(command, options->analyse.symbols);
  add_trace_options(command, options->analyse.trace);
  add_threads_option(command, options->analyse.threads);
  add_result_options(command, options->result, "kmemtrace.diff/1", "plain digits, full names and all usual columns");
  return command;
}

}  // namespace kmt
