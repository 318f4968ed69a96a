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
#include "cli/snapshot/files.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
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
  kmemtrace diff before.kmt after.kmt            what another kernel does differently, by call site
  kmemtrace diff slub.kmt slob.kmt --by size --sort wasted
                                                 which sizes another allocator wastes less on
  kmemtrace diff a.kmt b.kmt --per task_newtask  what each new process or thread costs
  kmemtrace diff a.kmt b.kmt --by cache --sort live-bytes --limit 0 --json
  kmemtrace diff morning.kmt evening.kmt         two snapshots (`kmemtrace snapshot -o`): what grew
  kmemtrace diff hour.kmt                        first and last of a series (`kmemtrace snapshot --every`)
  kmemtrace diff trace.kmt                       the kernel's memory when recording began and when it ended

For two snapshots the balance sheets are compared, and the parts of their lines. Only --limit and the options for the
output format apply. A folder with copies of the kernel's files is a snapshot (see `kmemtrace snapshot --from`).
Compared with a snapshot, a recording (.kmt) stands for the state of memory at its end.

Groups are matched by name. Call sites are matched by function, because offsets differ between builds: all call sites
of a function and of its copies (.isra.0, .constprop.0, .part.0, .cold) are added up. --exact keeps symbols with their
offsets, for two traces of the same kernel. Tasks are matched by name, stacks by their list of functions.

If the traces differ in length, counts are divided by the seconds of each trace, or with --per by the occurrences of
an event. Live bytes at the end, peaks, lifetimes and shares are not divided.

A change is ignored if it is below --threshold, rests on fewer than --min-count allocations, or could be chance. For
counts, bytes and mean lifetimes chance is three standard deviations, assuming independent allocations. For
percentiles it is 25 %, their precision. Waste and size are not tested. Allocations come in bursts, so repeated
recordings may differ by more: compare two recordings of the same kind to see how much. In tables "=" means no change.

{}

Exit status:
  0    compared, whatever changed
  2    wrong usage, or a file cannot be read
  3    not permitted to read a file
  130  interrupted by Ctrl+C; the part of B that was read is compared, or nothing before B was reached)";

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
        .hint("--absolute compares undivided counts, --per divides them");
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
  // For a recording and a snapshot, compares the common data about the kernel's memory.
  const bool of_states =
      options.b.empty() ? has_snapshots(options.a) : is_snapshot(options.a) || is_snapshot(options.b);
  if (of_states) return diff_snapshots(options);
  if (options.b.empty()) {
    if (options.a != "-" && !std::filesystem::exists(options.a)) MappedFile{options.a};  // reports a missing file
    throw Error("Nothing to compare the trace with")
        .hint(
            "Name two: kmemtrace diff A B. With one file, its first and last snapshots are compared: `snapshot "
            "--every` and `record` write them");
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
    Error error("Interrupted before the second trace was read: there is nothing to compare");
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
  Command command{"diff", "Compare two traces and show what is allocated differently.",
                  fmt::format(fmt::runtime(kDiffFooter), kWhichEventsCount),
                  [options](const Command&) { return run_diff(*options); }};
  command.argument("A", &options->a,
                   "The trace to compare with\nA .kmt, a trace.dat, or a folder with relay files, from any machine; - "
                   "is standard input. Or a snapshot, or a folder with copies of the kernel's files.",
                   {.required = true});
  command.argument("B", &options->b,
                   "The trace to compare\nWithout it, the kernel's memory at the start and at the end of A is "
                   "compared: of a series of snapshots, or of a recording.");
  command.option("--by", &options->by, "KEYS",
                 "Compare groups by KEYS, nested if several: cache,call-site (default: call-site)\n`kmemtrace report "
                 "--help` lists them.");
  add_tree_option(command, options->tree);
  command.option("--sort", &options->sort, "COLUMN",
                 "Order groups by the change of COLUMN, largest first (default: allocated)\nThe columns:" +
                     list_of(diff_columns()));
  command.option("--columns", &options->columns, "LIST",
                 "Also show the changes of these columns: hits,waste,peak\nThe columns are those that --sort takes.");
  command.option("--per", &options->per, "EVENT",
                 "Normalise counts per second or per EVENT (e.g. task_newtask)\nAll events within --time are counted, "
                 "whatever allocations are selected. Write SYSTEM:NAME if several have a name.");
  command.flag("--absolute", &options->absolute, "Compare counts without normalising them");
  command.flag("--exact", &options->exact,
               "Match call sites by symbol and offset\nFor two traces of the same kernel build.");
  command.option("--threshold", &options->view.noise.percent, "PERCENT",
                 "Ignore changes below PERCENT (default: 5)\nFor percentages, in points: 5 is from 10 % to 15 %.",
                 {.range = OptionRange{0, 10'000}});
  command.option(
      "--min-count", &options->view.noise.least_count, "N",
      "Ignore groups with fewer than N allocations (default: 10)\nIn both traces; for lifetimes and shares, in either.",
      {.range = kCounts});
  add_limit_option(command, options->view.limit, "groups in each table");
  add_filter_options(command, options->filter);
  add_name_options(command, options->analyse.symbols);
  add_trace_options(command, options->analyse.trace);
  add_threads_option(command, options->analyse.threads);
  add_result_options(command, options->result, "kmemtrace.diff/1", "plain digits, full names and every usual column");
  return command;
}

}  // namespace kmt
