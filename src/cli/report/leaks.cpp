// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace leaks
#include "analysis/report/leaks.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/tree_option.hpp"
#include "cli/report/series.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/result_file.hpp"
#include "results/report/growth_gate.hpp"
#include "results/series/thresholds.hpp"
#include "views/json/leaks.hpp"
#include "views/text/leaks/gate.hpp"
#include "views/text/leaks/leaks.hpp"
#include "views/text/series.hpp"

namespace kmt {

namespace {

struct LeaksArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string by;
  bool tree = false;
  bool reclaimable = false;
  std::string threshold;
  std::string max_growth;
  std::string junit;
  std::string sort;
  std::string stacks = "growing";
  std::size_t limit = LeaksOptions{}.limit;
  ResultOptions result;
};

constexpr const char* kLeaksFooter = R"(Examples:
  kmemtrace record --stacks --duration 5m && kmemtrace leaks
  kmemtrace leaks big.kmt --by cache               which slab caches grow
  kmemtrace leaks big.kmt --by call-site,comm      where, and for which task
  kmemtrace leaks big.kmt --threshold 1M/h         look for slower leaks
  kmemtrace leaks big.kmt --reclaimable            judge page cache, inodes and dentries too
  kmemtrace leaks big.kmt --sort live-bytes        groups with most live memory, growing or not
  kmemtrace leaks big.kmt --json && echo no leak   for scripts
  kmemtrace leaks big.kmt --max-growth 1M --junit leaks.xml
                                                   for tests that must fail if a change leaks
  kmemtrace snapshot --every 10s --for 1h -o hour.kmt && kmemtrace leaks hour.kmt
                                                   growth in total, without tracing

"Process" names the process that allocated most of the live memory of a group, and the number of other processes. If
many processes with the same name allocated it, this name is shown.
"Over time" shows live bytes from the start to the end of the recording. "Ages" shows the distribution of the ages of
live objects. The youngest are on the left, and those as old as the recording are on the right. The ages of each bar are
four times those of the previous bar. At most 4096 groups are followed: those with the most live bytes.

Growth is judged as follows. The time from the first allocation of a group to the end is divided into 16 intervals. The
growth is the median of the slopes between all pairs of intervals. A group grows if more pairs rise than in 95 of 100
random walks. It still grows at the end if the growth in the last half of the time is at least half of the growth in the
whole time. Growth is certain if three conditions hold even when uncertain allocations are not counted. First, the group
grows. Second, the low end of the confidence interval of its growth is above the threshold. Third, the group rises more
steadily than chance explains: if all groups were random walks, none of them would rise so steadily in 19 of 20 reports.

Verdicts:{}

An allocation is uncertain if its free may be missing. This is possible if events were lost after the allocation, if the
trace has gaps, or if the kernel frees such objects on paths without a tracepoint. docs/untraced-paths.md lists these
untraced paths. If the address of a live object is allocated again, the free of this object was missed. Allocations of
its group then become uncertain. Objects that outlive the trace look like a leak, so record longer than your objects
live.

Reports of OOM kills in one or several kernel logs are compared like a series of snapshots.
For a series of snapshots, the same rules apply to the lines of the balance sheet, slab caches, callers of vmalloc,
cgroups, and call sites if the kernel reports them. At least 16 snapshots are necessary. Only --threshold, --limit and
the options for the output format apply.

{}

Exit status:
  0    no certain growth above the threshold
  1    certain growth above the threshold (of reclaimable memory only with --reclaimable)
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  4    growth cannot be judged: the trace is too short, lost more events than it has, or has no
       clock in nanoseconds; --by stack is given, but the trace has no stacks; a part of the file
       is missing, or missing events may include frees of growing memory; no event is
       selected; or a series has fewer than 16 snapshots or no times
       With --max-growth: 0 within the limit, 1 limit exceeded, 4 the trace cannot show it
  130  interrupted by Ctrl+C; the result covers the part that was read, and states this)";

std::string verdicts_help() {
  std::string text;
  for (const LeakVerdictText& verdict : leak_verdicts())
    text += fmt::format("\n  {:<9}  {}", verdict.id, verdict.sentence);
  return text;
}

// Analyses the trace with the default keys. If stacks appear only later in the trace, reads the trace again.
ReportResult analyse_as_usual(const AnalyseOptions& options, ReportRequest request) {
  const bool by_stack = begins_with_stacks(options);
  request.by = usual_leak_keys(by_stack);
  ReportResult result = analyse(options, request);
  if (by_stack || result.trace.stacks == 0 || !result.trace.complete) return result;
  request.by = usual_leak_keys(true);
  return analyse(options, std::move(request));
}

int leaks_of_series(const Command& command, const LeaksArguments& options, double threshold) {
  const SeriesOptions view{SeriesOrder::growth, options.limit};
  const SnapshotSeries series =
      print_series(command, options.analyse.trace, threshold, view, options.result, text_series_leaks);
  if (series.found()) return static_cast<int>(ExitCode::found);
  return series.is_unclear() ? kCannotTellExitCode : static_cast<int>(ExitCode::good);
}

int exit_code_of(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::passed: return static_cast<int>(ExitCode::good);
    case GateVerdict::unclear: return kCannotTellExitCode;
    case GateVerdict::failed: break;
  }
  return static_cast<int>(ExitCode::found);
}

int leaks(const Command& command, const LeaksArguments& options) {
  const bool has_gate = command.has("--max-growth");
  if (command.has("--junit") && !has_gate)
    throw Error("--junit needs --max-growth").hint("The JUnit report states whether a trace is within this limit");
  const double threshold =
      options.threshold.empty() ? kThresholds.usual_bytes_per_s : parse_byte_rate(options.threshold);
  const std::uint64_t limit = has_gate ? parse_size(options.max_growth) : 0;
  if (names_series(options.analyse.trace)) {
    if (has_gate)
      throw Error("--max-growth needs a trace, and this is a series of snapshots").hint("Use --threshold for a series");
    return leaks_of_series(command, options, threshold);
  }
  std::optional<ResultFile> junit;
  if (command.has("--junit")) junit.emplace(options.junit, options.analyse.trace.files);
  LeaksOptions view;
  view.limit = options.limit;
  view.stacks = options.stacks == "all"    ? StacksShown::all
                : options.stacks == "none" ? StacksShown::none
                                           : StacksShown::growing;
  view.is_brief =
      !command.has("--limit") && !command.has("--sort") && !options.result.style.raw && view.stacks != StacksShown::all;
  if (!options.sort.empty()) view.sort = &column_named(pointers_to(leak_columns()), options.sort);
  ReportRequest request;
  request.filter = filter_of(options.filter);
  request.history = request.history_of_live = request.holders = request.until_cut = true;
  request.judges_reclaimable = options.reclaimable;
  request.names_unknown_owners = true;
  if (!options.by.empty()) request.by = parse_keys_of_live(options.by);
  set_tree(request, options.tree);
  view.filtered = !request.filter.selects_all();

  AnalyseOptions analysing = options.analyse;
  analysing.says_lack_of_cgroups = true;
  const ReportResult report = options.by.empty() ? analyse_as_usual(analysing, request) : analyse(analysing, request);
  const LeaksResult result = leaks_of(report, threshold);
  std::optional<GrowthGate> gate;
  if (has_gate) view.gate = &gate.emplace(gate_of(result, limit));
  if (junit) {
    junit->write(junit_gate(*gate, result));
    junit->finish();
  }
  print_result(options.result.json ? json_leaks(result, view)
                                   : text_leaks(result, view, stdout_style(options.result.style)));
  if (!result.trace.complete) return kInterruptedExitCode;
  if (gate) return exit_code_of(gate->verdict());
  if (result.found()) return static_cast<int>(ExitCode::found);
  return result.unclear() == LeaksUnclear::none ? static_cast<int>(ExitCode::good) : kCannotTellExitCode;
}

}  // namespace

Command leaks_command() {
  const auto options = std::make_shared<LeaksArguments>();
  Command command{"leaks", "Show memory still allocated at the end of a trace and whether it is growing.",
                  fmt::format(fmt::runtime(kLeaksFooter), verdicts_help(), kWhichEventsCount),
                  [options](const Command& given) { return leaks(given, *options); }};
  add_file_option(command, options->analyse.trace);
  command.option("--by", &options->by, "KEYS",
                 "Group allocations by KEYS (default: caller and stack if the trace has stacks, else call-site and "
                 "order)\nThe keys are those of `kmemtrace report --by`, except lifetime and those "
                 "of frees. If no key applies to vmalloc areas, they are grouped by process. With module, subsystem or "
                 "directory, code for which the key is unknown is grouped by its function.");
  add_tree_option(command, options->tree);
  command.option("--threshold", &options->threshold, "RATE",
                 "Report growth above RATE (default: 64K/min)\nRATE is a number of bytes, with an optional suffix, per "
                 "s, min, h or d.");
  command.option(
      "--max-growth", &options->max_growth, "SIZE",
      "Exit with 1 if more than SIZE of one allocator stays allocated, and with 0 if not\nThis replaces the "
      "exit status for growth. Counts only memory that is certainly live and not reclaimable. Status 4 means "
      "that the trace lacks events, or may lack too many frees.");
  command.option("--junit", &options->junit, "FILE",
                 "Write the result of --max-growth to FILE as a JUnit report\nThe report has a test case for each "
                 "allocator with live memory: slab objects, pages, percpu memory and vmalloc areas.");
  command.flag(
      "--reclaimable", &options->reclaimable,
      "Judge reclaimable memory like other memory (default: its growth counts as explained)\nReclaimable memory is "
      "user memory, page cache, inodes, dentries and similar objects.");
  command.option(
      "--sort", &options->sort, "COLUMN",
      "Sort groups by COLUMN, largest first (default: verdict)\nColumns:" + list_of(pointers_to(leak_columns())));
  add_limit_option(command, options->limit, "groups in each table");
  command.option(
      "--stacks", &options->stacks, "WHICH",
      "Show the stacks of these groups: growing, all or none (default: growing)\nWithout --limit, --sort and "
      "--stacks all, the report has at most 60 lines.",
      {.words = {"growing", "all", "none"}});
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  add_result_options(command, options->result, "kmemtrace.leaks/1", "plain digits, full names and all columns");
  return command;
}

}  // namespace kmt
