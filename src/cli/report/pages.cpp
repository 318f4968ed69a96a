// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace pages
#include "analysis/report/pages.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/input/filter_options.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/symbol_options.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/report/stalls.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/output.hpp"
#include "views/json/pages.hpp"
#include "views/text/pages.hpp"

namespace kmt {

namespace {

struct PagesArguments {
  TraceOptions trace;
  std::string sort;
  std::size_t limit = PagesOptions{}.limit;
  FilterOptions filter;
  SymbolOptions symbols;
  ResultOptions result;
  bool stalls = false;
};

constexpr const char* kPagesFooter = R"(Examples:
  kmemtrace record --duration 10s -e 'kmem:mm_page_*' && kmemtrace pages
  kmemtrace pages big.kmt --sort live            tasks with most pages that were not freed
  kmemtrace pages big.kmt --sort severe          tasks whose allocations fragment memory
  kmemtrace pages big.kmt --comm 'nginx*' --limit 0 --json
  kmemtrace record --stalls --stacks --duration 10s && kmemtrace pages --stalls
                                                 how long tasks waited for memory

An allocation of a small order takes pages from a list of its CPU. An empty list is refilled from the buddy lists, under
the lock of the zone. A list that is too full is drained into the buddy lists. If no free block of the right migrate
type is left, an allocation falls back to a block of another type. A fallback to less than a whole page block mixes
types within a page block. This fragments memory, so that large allocations fail later. Such a fallback is severe if its
order is 3 or less.

Drains and refills are counted in runs. A run is a series of events of one task, which ends with the next page event of
another kind by this task. Interrupts have separate rows. For idle tasks and interrupts, runs are counted for each CPU.
Frees are counted for the task that freed the pages, and live pages for the task that allocated them. Events outside
--time are ignored.

Exit status:
  0    reported
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  interrupted by Ctrl+C; the result covers the part that was read, and states this)";

int pages(const PagesArguments& options) {
  const ReportFilter filter = filter_of(options.filter);
  PagesOptions view;
  view.limit = options.limit;
  view.filtered = !filter.selects_all();
  if (!options.sort.empty()) view.sort = &column_named(pointers_to(page_task_columns()), options.sort);
  if (options.stalls) {
    if (!options.sort.empty())
      throw Error("--stalls and --sort cannot be combined").hint("Stalls are always sorted by time. Remove --sort");
    ReportRequest request;
    request.filter = filter;
    request.by.clear();
    return report_stalls({.trace = options.trace, .symbols = options.symbols}, std::move(request), options.limit,
                         options.result);
  }

  const std::unique_ptr<Source> source = open_for_reading(options.trace);
  // Opens the trace a second time if the names of tasks must be read in advance.
  const std::unique_ptr<Source> ahead =
      may_tell_earlier_names(source->info().tables.event_types) ? open_for_reading(options.trace) : nullptr;
  bool complete = !ahead || read_trace(
                                *ahead, [](const EventBatch&) {}, options.trace.progress);

  const Symbols symbols(source->info(), options.symbols, WrapperList());
  PagesAnalysis analysis(source->info(), (ahead ? ahead : source)->info().tasks, symbols, filter);
  complete = complete && read_trace(
                             *source, [&](const EventBatch& batch) { analysis.add(batch); }, options.trace.progress);
  PagesResult result = analysis.finish(complete);
  result.findings.merge(symbols.findings());
  print_result(options.result.json ? json_pages(result, view)
                                   : text_pages(result, view, stdout_style(options.result.style)));
  return complete ? 0 : kInterruptedExitCode;
}

}  // namespace

Command pages_command() {
  const auto options = std::make_shared<PagesArguments>();
  Command command{
      "pages", "Show page allocations and frees by task, how they fragment memory, and how long tasks waited for it.",
      kPagesFooter, [options](const Command&) { return pages(*options); }};
  add_file_option(command, options->trace);
  command.option(
      "--sort", &options->sort, "KEY",
      "Sort tasks by KEY, largest first (default: allocated-pages)\nKeys:" + list_of(pointers_to(page_task_columns())));
  command.flag(
      "--stalls", &options->stalls,
      "Show how long tasks waited for memory instead: in reclaim, compaction and throttling\nThe trace must be "
      "recorded with `record --stalls`.");
  add_limit_option(command, options->limit, "tasks, and N kinds of failures");
  add_event_filter_options(command, options->filter, "events caused");
  add_kallsyms_option(command, options->symbols);
  add_trace_options(command, options->trace);
  add_result_options(command, options->result, "kmemtrace.pages/1", "plain digits, full names and all columns");
  return command;
}

}  // namespace kmt
