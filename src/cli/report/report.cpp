// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace report
#include <algorithm>

#include <fmt/format.h>

#include "analysis/report/matrix.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/input/analyse.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/perf_kmem_options.hpp"
#include "cli/input/tree_option.hpp"
#include "cli/report/histogram.hpp"
#include "cli/report/html.hpp"
#include "cli/report/series.hpp"
#include "cli/report/stalls.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "results/series/thresholds.hpp"
#include "views/json/report.hpp"
#include "views/text/lines.hpp"
#include "views/text/perf_report.hpp"
#include "views/text/report.hpp"
#include "views/text/series.hpp"

namespace kmt {

namespace {

struct ReportArguments {
  AnalyseOptions analyse;
  FilterOptions filter;
  std::string by;
  std::string metric = "memory";
  std::string window;
  std::string sort;
  std::string columns;
  std::size_t limit = ReportOptions{}.limit;
  ResultOptions result;
  bool over_time = false;
  bool matrix = false;
  bool tree = false;
  PerfKmemFlags perf_kmem;
  std::string html;
  std::vector<std::string> diff;  // two files
};

std::string by_help() {
  std::string text = "Group allocations by KEYS, nested if several: cache,call-site (default: call-site)\nKeys:";
  for (const GroupKeyInfo& info : group_keys()) text += fmt::format("\n  {:<15} {}", info.name, info.meaning);
  return text;
}

constexpr const char* kReportFooter = R"(Examples:
  kmemtrace report                               trace.kmt in this folder, in at most 60 lines
  kmemtrace report --limit 0                     with all groups and all sections
  kmemtrace report big.kmt --sort waste          call sites with most allocated but unrequested memory
  kmemtrace report big.kmt --sort live-bytes     memory that was not freed
  kmemtrace report big.kmt --over-time           with a small plot of live bytes over time
  kmemtrace report big.kmt --by task             allocations by task, including pages
  kmemtrace report big.kmt --by cache,call-site  the call sites of each slab cache
  kmemtrace report big.kmt --by lifetime         how long allocations live
  kmemtrace report big.kmt --by call-site,free-site
                                                 where the memory of each call site is freed
  kmemtrace report big.kmt --matrix              the processes that free the memory of each process
  kmemtrace report big.kmt --columns hits,mean-life,short-lived --sort short-lived
                                                 which short-lived objects could be reused
  kmemtrace report big.kmt --time +1,+2.5        from 1 s to 2.5 s after the first event
  kmemtrace report big.kmt --window +1,+2.5      of the memory allocated between 1 s and 2.5 s, how much is left
  kmemtrace report big.kmt --metric stall --by process,order
                                                 how long processes waited for memory (record --stalls)
  kmemtrace report big.kmt --comm 'nginx*' --limit 0 --json
  kmemtrace report big.kmt --lines               with file and line, from installed debug info
  kmemtrace report big.kmt --html big.html       a page for a browser, also useful for a bug report
  kmemtrace report --html ab.html --diff a.kmt b.kmt
                                                 growth and shrinkage, also as a flame graph
  perf record -a -e 'kmem:*' -o - sleep 9 | kmemtrace report -
  kmemtrace report perf.data --style perf-kmem --caller --alloc -l 10
                                                 the tables of `perf kmem stat`, for scripts that read them

{}

For a series of snapshots (`kmemtrace snapshot --every`), the report shows the changes. Only --limit and the options for
the output format apply.

The requested bytes of percpu memory are those for one CPU, but the memory is allocated for every CPU. Vmalloc areas are
address ranges, which do not always contain memory. Frees of pages are matched with allocations by page frame. The
lifetime of an allocation of pages ends when its first frame is freed.

Exit status:
  0    reported
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the report covers the part that was read, and states this)";

const Column<GroupRow>& group_column(std::string_view key) {
  // "symbol" is an old name of this column, from the time when all grouping was by call site.
  return column_named(pointers_to(group_columns()), key == "symbol" ? "name" : key);
}

Error not_addable(std::string_view option, const Column<GroupRow>& sort) {
  std::string sums;
  for (const Column<GroupRow>& column : group_columns())
    if (adds_up(column)) sums += fmt::format("{}{}", sums.empty() ? "" : ", ", column.key);
  Error error(fmt::format("{} needs a column whose values can be added, unlike \"{}\"", option, sort.key));
  error.hint(fmt::format("Sort by one of: {}", sums));
  return error;
}

// Throws Error for keys and columns from which no matrix can be made.
void check_matrix(const std::vector<GroupKey>& by, const Column<GroupRow>* amount) {
  if (by.size() < 2)
    throw Error("--matrix needs at least two keys")
        .hint("The values of the last key become columns: --by task,free-task --matrix");
  if (amount != nullptr && !adds_up(*amount)) throw not_addable("--matrix", *amount);
}

int report_as_html(const Command& command, const ReportArguments& options) {
  if (options.diff.empty() && names_series_files(options.analyse.trace)) {
    refuse_event_options(command, "a series of snapshots");
    write_series_html(options.html, options.analyse.trace);
    return 0;
  }
  std::vector<TraceFiles> traces = {options.analyse.trace.files};
  if (!options.diff.empty()) traces = {{options.diff[0]}, {options.diff[1]}};
  return write_html(options.html, traces, options.analyse, filter_of(options.filter)) ? 0 : kInterruptedExitCode;
}

// Throws Error for options that have no effect in the style perf-report.
void refuse_with_perf_report(const Command& command, const Column<GroupRow>* sort) {
  for (const char* const option : {"--columns", "--json", "--over-time"})
    if (command.has(option))
      throw Error(fmt::format("{} cannot be used with --style perf-report", option))
          .hint("The columns of that style are fixed. Remove one of the two options");
  if (command.has("--slab") && command.has("--page"))
    throw Error("--slab and --page cannot be combined with --style perf-report, because it shows only one allocator");
  if (sort != nullptr && !adds_up(*sort)) throw not_addable("--style perf-report", *sort);
}

// Throws Error for options that have no effect with --metric stall.
void refuse_with_stalls(const Command& command) {
  for (const char* const option : {"--sort", "--columns", "--over-time", "--window", "--matrix", "--style"})
    if (command.has(option))
      throw Error(fmt::format("{} cannot be used with --metric stall", option))
          .hint("Groups of waits are always sorted by time. Remove one of the two options");
}

// Returns text such as " (/usr/bin/make and 3 more)". Empty if there is no finding of this kind, or if the first one
// has no detail.
std::string example_of(const Findings& findings, Imperfection kind) {
  const auto first = std::ranges::find(findings.kept(), kind, &Finding::kind);
  if (first == findings.kept().end() || first->detail.empty()) return {};
  const std::uint64_t others = findings.count_of(kind) - 1;
  return others == 0 ? fmt::format(" ({})", first->detail) : fmt::format(" ({} and {} more)", first->detail, others);
}

// Prints facts about the trace for which the format of perf report has no place.
void say_what_is_missing(const TraceSummary& trace, const Findings& findings) {
  if (const std::string missing = missing_cpus_text(trace); !missing.empty()) say("{}\n", missing);
  if (findings.count_of(Imperfection::sampled_events) > 0)
    say("note: {}{}. Here each sample is counted once, but perf report counts the period of each sample, so shares may "
        "differ\n",
        describe(Imperfection::sampled_events).sentence, example_of(findings, Imperfection::sampled_events));
  for (const Imperfection kind :
       {Imperfection::no_kernel_symbols, Imperfection::unreadable_symbols, Imperfection::unchecked_kernel_symbols,
        Imperfection::kernel_symbols_from_elsewhere, Imperfection::no_user_stacks, Imperfection::no_mappings,
        Imperfection::no_user_build_ids, Imperfection::no_user_symbols, Imperfection::nothing_fetched,
        Imperfection::not_unwound, Imperfection::no_syscalls})
    if (findings.count_of(kind) > 0) say("note: {}{}\n", describe(kind).sentence, example_of(findings, kind));
}

std::vector<GroupKey> keys_of(const ReportArguments& options) {
  const bool needs_live_keys = options.over_time || !options.window.empty() || options.metric == "stall";
  if (!options.by.empty()) return needs_live_keys ? parse_keys_of_live(options.by) : parse_group_keys(options.by);
  if (options.matrix) return {GroupKey::process, GroupKey::free_process};
  return ReportRequest{}.by;
}

// Throws Error if a column is chosen that only --window fills.
void refuse_window_columns(const ReportOptions& view) {
  std::vector<const Column<GroupRow>*> chosen = view.columns;
  if (view.sort != nullptr) chosen.push_back(view.sort);
  for (const Column<GroupRow>* column : chosen)
    if (column->needs_window)
      throw Error(fmt::format("The column {} needs --window", column->key))
          .hint("Give the start and the end of a time window: --window +1,+2.5");
}

ReportOptions view_of(const Command& command, const ReportArguments& options, const ReportRequest& request) {
  ReportOptions view;
  view.limit = options.limit;
  view.filtered = !request.filter.selects_all();
  view.over_time = options.over_time;
  view.table_first = options.matrix || !options.by.empty();
  view.is_brief = !options.result.style.raw && !options.over_time && options.by.empty() && options.sort.empty() &&
                  options.columns.empty() && !command.has("--limit");
  if (request.window) {
    view.is_brief = false;
    view.table_first = true;
    view.sort = find_group_column("left-live");
    if (!options.result.style.raw)
      for (const Column<GroupRow>& column : group_columns())
        if (column.needs_window) view.columns.push_back(&column);
  }
  if (request.by == std::vector{GroupKey::lifetime}) view.sort = &group_column("name");  // a histogram
  if (!options.sort.empty()) view.sort = &group_column(options.sort);
  if (!options.columns.empty()) {
    view.columns.clear();
    for (const std::string_view key : split(options.columns, ',')) view.columns.push_back(&group_column(key));
  }
  if (!request.window) refuse_window_columns(view);
  return view;
}

int report(const Command& command, const ReportArguments& options) {
  if (names_series(options.analyse.trace)) {
    print_series(command, options.analyse.trace, kThresholds.usual_bytes_per_s, {SeriesOrder::change, options.limit},
                 options.result, text_series_report);
    return 0;
  }
  if (print_histograms(command, options.analyse.trace, options.limit, options.result)) return 0;
  ReportRequest request;
  request.filter = filter_of(options.filter);
  request.by = keys_of(options);
  if (options.metric == "stall") {
    refuse_with_stalls(command);
    set_tree(request, options.tree);
    return report_stalls(options.analyse, std::move(request), options.limit, options.result);
  }
  request.history = options.over_time;
  if (!options.window.empty()) request.window = parse_time_window(options.window);
  const ReportOptions view = view_of(command, options, request);
  set_tree(request, options.tree);
  request.most_live =
      !options.result.json && !options.result.style.raw && std::ranges::none_of(request.by, is_known_when_freed);
  request.live_pages = !options.result.json;
  if (options.matrix) check_matrix(request.by, view.sort);
  const bool as_perf_report = options.perf_kmem.style == "perf-report";
  PerfReportOptions perf_report;
  if (as_perf_report) {
    perf_report.share_of = options.sort.empty() ? nullptr : view.sort;
    perf_report.limit = command.has("--limit") ? options.limit : 0;
    if (options.perf_kmem.slab || options.perf_kmem.page)
      perf_report.allocator = options.perf_kmem.page ? Allocator::pages : Allocator::slab;
    refuse_with_perf_report(command, perf_report.share_of);
    request.with_interrupted = true;
    request.count_duplicates = true;
    if (options.by.empty()) request.by = {GroupKey::comm, GroupKey::dso, GroupKey::user_symbol};
    perf_report.keys = request.by.size();
    // Adds the key dso, because only this key distinguishes kernel functions from functions of programs.
    const auto has = [&](GroupKey key) { return std::ranges::find(request.by, key) != request.by.end(); };
    if (has(GroupKey::user_symbol) && !has(GroupKey::dso)) request.by.push_back(GroupKey::dso);
  }
  std::optional<PerfKmemOptions> perf_kmem = perf_kmem_options(command, options.perf_kmem, options.limit);
  if (perf_kmem) {
    perf_kmem->sort = view.sort;
    request.by = perf_kmem_keys(*perf_kmem);
  }

  AnalyseOptions analysing = options.analyse;
  analysing.names = !perf_kmem || shows_code(*perf_kmem);
  analysing.says_lack_of_cgroups = true;
  ReportResult result = analyse(analysing, request);
  if (options.matrix)
    result.matrices = matrices_of(result, view.sort == nullptr ? *find_group_column("allocated") : *view.sort);
  if (as_perf_report) {
    say_what_is_missing(result.trace, result.findings);
    print_result(text_perf_report(result, perf_report));
    return result.trace.complete ? 0 : kInterruptedExitCode;
  }
  if (perf_kmem) {
    say("{}", perf_kmem_warnings(result));
    print_result(text_perf_kmem(result, *perf_kmem));
    return result.trace.complete ? 0 : kInterruptedExitCode;
  }
  print_result(options.result.json ? json_report(result, view)
                                   : text_report(result, view, stdout_style(options.result.style)));
  return result.trace.complete ? 0 : kInterruptedExitCode;
}

}  // namespace

Command report_command() {
  const auto options = std::make_shared<ReportArguments>();
  Command command{"report", "Report which code and tasks allocated kernel memory, from a trace.",
                  fmt::format(fmt::runtime(kReportFooter), kWhichEventsCount), [options](const Command& given) {
                    return options->html.empty() ? report(given, *options) : report_as_html(given, *options);
                  }};
  add_file_option(command, options->analyse.trace);
  command.option("--by", &options->by, "KEYS", by_help());
  command.option("--metric", &options->metric, "METRIC",
                 "Show for each group the allocated memory, or how long tasks waited for memory (default: memory)\n"
                 "With stall, the trace must be recorded with `record --stalls`.\n  memory  bytes and allocations\n"
                 "  stall   time in reclaim, compaction and throttling",
                 {.words = {"memory", "stall"}});
  command.option("--sort", &options->sort, "KEY", "Sort groups by the column KEY, largest first (default: allocated)");
  command.option("--columns", &options->columns, "LIST",
                 "Show the columns in LIST, in this order: hits,allocated,peak\nColumns, also for --sort:" +
                     list_of(pointers_to(group_columns())));
  command.flag("--over-time", &options->over_time,
               "Draw the live bytes of each group over time\nThis applies to the 4096 groups with the highest peaks, "
               "and not to the keys lifetime, free-site, free-task, free-process and free-comm.",
               {.excludes = {"--matrix"}});
  command.option(
      "--window", &options->window, "A,B",
      "Show which memory was allocated and freed in a time window, and which is left at its end\nUnlike --time, events "
      "before A count too. Each group has four sums: allocated in the window and live at its end, allocated and freed "
      "in it, older and freed in it, and older and live at its end. A and B are times as for --time. The keys of --by "
      "must be known at the allocation, unlike lifetime or free-site.",
      {.excludes = {"--time", "--matrix", "--style"}});
  command.flag("--matrix", &options->matrix,
               "Show a matrix: the values of the last key are columns (default keys: process,free-process)\nThe cells "
               "are the values of the column of --sort. The matrix has at most 12 columns, and one for all others.",
               {.excludes = {"--style"}});
  add_tree_option(command, options->tree);
  add_limit_option(command, options->limit, "groups in each table");
  add_filter_options(command, options->filter);
  add_analyse_options(command, options->analyse);
  add_result_options(command, options->result, "kmemtrace.report/1", "plain digits, full names and all columns");
  add_perf_kmem_options(command, options->perf_kmem);
  command.option("--html", &options->html, "OUT.html",
                 "Write an HTML page to OUT.html: flame graph, timeline, tables, waste, lifetimes, leaks, calls\nThe "
                 "page is one file, which any browser can open without a network.",
                 {.excludes = {"--by", "--metric", "--sort", "--columns", "--over-time", "--window", "--matrix",
                               "--tree", "--json", "--raw", "--style"}});
  command.option("--btf", &options->analyse.btf, "FILE",
                 "With --html: read the types of call arguments from FILE, as `kmemtrace graph` does",
                 {.needs = {"--html"}});
  command.option("--diff", &options->diff, "A B", "With --html: compare two traces instead of showing FILE",
                 {.values = 2, .needs = {"--html"}});
  return command;
}

}  // namespace kmt
