// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace pages
#include "analysis/pages.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/filter_options.hpp"
#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/suggest.hpp"
#include "symbols/kallsyms.hpp"
#include "views/json_pages.hpp"
#include "views/text_pages.hpp"

namespace kmt {

namespace {

struct Options {
  std::string file;  // empty: default_trace()
  std::string sort;
  std::size_t limit = PagesOptions{}.limit;
  FilterOptions filter;
  bool json = false;
  bool raw = false;
  bool no_progress = false;
};

std::string sort_help() {
  std::string text = "Order tasks by KEY, largest first (default: allocated-pages)\nKeys:";
  for (const auto& column : page_task_columns()) text += fmt::format("\n  {:<15} {}", column.key, column.meaning);
  return text;
}

constexpr const char* kFooter = R"(Examples:
  kmemtrace record --duration 10s -e 'kmem:mm_page_*' && kmemtrace pages
  kmemtrace pages big.kmt --sort live            who holds pages that were not freed again
  kmemtrace pages big.kmt --sort severe          whose allocations fragment memory
  kmemtrace pages big.kmt --comm 'nginx*' --limit 0 --json

How pages travel: an allocation of a small order takes pages from the CPU's own list. Where that is empty it is
refilled from the buddy lists, under the zone's lock; where it is too full it is drained to them. An allocation whose
migrate type has nothing left falls back to a free block of another type. That mixes types within a page block, and
large allocations fail later, unless the block was a whole page block: below that it fragments, severely up to order 3.

Drains and refills are runs: they end with the task's next page event of another kind, whatever other tasks do
meanwhile. Interrupts own what they do; idle tasks and interrupts have runs on each CPU. Frees count for who frees,
live pages for who allocated. Outside of --time nothing is seen at all.

Exit status:
  0    reported
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  Ctrl+C ended the reading: the result is that of the part that was read, and says so)";

const Column<PageTaskRow>& column_named(std::string_view key) {
  if (const auto* column = find_page_task_column(key)) return *column;
  std::vector<std::string> keys;
  for (const auto& column : page_task_columns()) keys.emplace_back(column.key);
  throw unknown_name("There is no column", key, keys);
}

int pages(const Options& options) {
  const ReportFilter filter = filter_of(options.filter);
  PagesOptions view;
  view.limit = options.limit;
  view.filtered = !filter.selects_all();
  if (!options.sort.empty()) view.sort = &column_named(options.sort);

  const std::string file = options.file.empty() ? default_trace() : options.file;
  const auto open = [&] { return open_for_reading(file, OpenOptions{options.filter.buffer}); };
  const std::unique_ptr<Source> source = open();
  // Read once before, where that tells what tasks are called.
  const std::unique_ptr<Source> ahead = may_tell_earlier_names(source->info()) ? open() : nullptr;
  bool complete = !ahead || read_trace(
                                *ahead, [](const EventBatch&) {}, !options.no_progress);

  const Kallsyms symbols(source->info().kallsyms);
  PagesAnalysis analysis(source->info(), ahead ? ahead->info() : source->info(), symbols, filter);
  complete = complete && read_trace(
                             *source, [&](const EventBatch& batch) { analysis.add(batch); }, !options.no_progress);
  PagesResult result = analysis.finish();
  result.trace.complete = complete;
  print_result(options.json ? json_pages(result, view) : text_pages(result, view, stdout_style(options.raw)));
  return complete ? 0 : kInterruptedExitCode;
}

}  // namespace

CLI::App* add_pages_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("pages", "Tell what tasks did with pages, and how it fragments memory.");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "The trace (default: trace.kmt, else trace.dat)\nA .kmt or a trace.dat, of any machine.");
  command->add_option("--sort", options->sort, sort_help())->option_text("KEY");
  command
      ->add_option("--limit,--top", options->limit, "Show N tasks, and N kinds of failures (default: 20); 0 means all")
      ->option_text("N")
      ->check(CLI::NonNegativeNumber);
  add_event_filter_options(*command, options->filter, "events caused");
  command->add_flag("--json", options->json, "Print JSON, schema kmemtrace.pages/1");
  command->add_flag("--raw", options->raw, "Print plain digits, full names and every column, however wide");
  command->add_flag("--no-progress", options->no_progress, "Show no progress line on the terminal");
  command->footer(kFooter);
  command->callback([options, &exit_code] { exit_code = pages(*options); });
  return command;
}

}  // namespace kmt
