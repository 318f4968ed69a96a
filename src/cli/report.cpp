// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace report
#include "analysis/report.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/parse.hpp"
#include "cli/reading.hpp"
#include "cli/suggest.hpp"
#include "symbols/kallsyms.hpp"
#include "views/json_report.hpp"
#include "views/text_report.hpp"

namespace kmt {

namespace {

struct Options {
  std::string file;  // empty: default_trace()
  std::string sort;
  std::size_t limit = ReportOptions{}.limit;
  std::string time;
  std::string cpus;
  std::string pids;
  std::vector<std::string> comms;
  std::optional<std::string> buffer;
  bool json = false;
  bool raw = false;
  bool no_progress = false;
};

std::string sort_help() {
  std::string text =
      "Order call sites by KEY, largest first (default: allocated)\nPercpu call sites too, where their table has the "
      "column. Keys:";
  for (const auto& column : call_site_columns()) text += fmt::format("\n  {:<11} {}", column.key, column.meaning);
  return text;
}

constexpr const char* kFooter = R"(Examples:
  kmemtrace report                               trace.kmt in this folder
  kmemtrace report big.kmt --sort waste          where most of the memory given is not used
  kmemtrace report big.kmt --sort live-bytes     what was not freed again
  kmemtrace report big.kmt --time +1,+2.5        from 1 s to 2.5 s after the first event
  kmemtrace report big.kmt --comm 'nginx*' --limit 0 --json

Which events count: an allocation belongs to the report when it passes --cpu, --pid and --comm; a free belongs to
its allocation, whoever frees it. Outside of --time nothing is seen at all.

Percpu memory is asked for in bytes for one CPU and taken for each. Vmalloc areas are addresses, not always memory.

Exit status:
  0    reported
  2    wrong usage, or the file cannot be read
  3    not permitted to read the file
  130  Ctrl+C ended the reading: the report is on the part that was read, and says so)";

ReportOptions view_options(const Options& options, bool filtered) {
  ReportOptions view;
  view.limit = options.limit;
  view.filtered = filtered;
  if (options.sort.empty()) return view;
  view.sort = find_call_site_column(options.sort);
  if (view.sort != nullptr) return view;
  std::vector<std::string> keys;
  for (const auto& column : call_site_columns()) keys.emplace_back(column.key);
  Error error(fmt::format("Cannot sort by \"{}\"", options.sort));
  const std::string nearest = nearest_name(options.sort, keys);
  error.hint((nearest.empty() ? "" : fmt::format("Did you mean \"{}\"? ", nearest)) +
             fmt::format("The keys are {}", fmt::join(keys, ", ")));
  throw error;
}

// The window is known in full once the first event is.
ReportFilter filter_of(const Options& options, const TimeWindow& window) {
  ReportFilter filter;
  if (window.from && !window.from->relative) filter.from_ns = window.from->ns;
  if (window.to && !window.to->relative) filter.to_ns = window.to->ns;
  if (!options.cpus.empty()) filter.cpus = parse_cpu_list(options.cpus);
  if (!options.pids.empty()) filter.pids = parse_pid_list(options.pids);
  filter.comms = options.comms;
  return filter;
}

int report(const Options& options) {
  const bool filtered =
      !(options.time.empty() && options.cpus.empty() && options.pids.empty() && options.comms.empty());
  const ReportOptions view = view_options(options, filtered);
  const TimeWindow window = options.time.empty() ? TimeWindow{} : parse_time_window(options.time);
  ReportFilter filter = filter_of(options, window);

  const std::unique_ptr<Source> source =
      open_for_reading(options.file.empty() ? default_trace() : options.file, OpenOptions{options.buffer});
  std::unique_ptr<ReportAnalysis> analysis;
  const auto add = [&](const EventBatch& batch) {
    if (!analysis) {
      const std::uint64_t first_ns = batch.front().time_ns;
      if (window.from) filter.from_ns = window.from->on_clock(first_ns);
      if (window.to) filter.to_ns = window.to->on_clock(first_ns);
      analysis = std::make_unique<ReportAnalysis>(source->info(), filter);
    }
    analysis->add(batch);
  };
  const bool complete = read_trace(*source, add, !options.no_progress);
  if (!analysis) analysis = std::make_unique<ReportAnalysis>(source->info(), filter);

  ReportResult result = analysis->finish(Kallsyms(source->info().kallsyms));
  result.trace.complete = complete;
  print_result(options.json ? json_report(result, view) : text_report(result, view, stdout_style(options.raw)));
  return complete ? 0 : kInterruptedExitCode;
}

}  // namespace

CLI::App* add_report_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("report", "Report who allocated what, from a trace.");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file,
                      "The trace (default: trace.kmt, else trace.dat)\nA .kmt or a trace.dat, of any machine.");
  command->add_option("--sort", options->sort, sort_help())->option_text("KEY");
  command->add_option("--limit", options->limit, "Show N call sites in each table (default: 20); 0 means all")
      ->option_text("N")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--time", options->time,
                   "Only events from A on and before B, in seconds\nOn the trace's clock, as trace-cmd report prints "
                   "it; either may be left out. With a + in front it counts from the trace's first event: +1,+2.5")
      ->option_text("A,B");
  command->add_option("--cpu", options->cpus, "Only allocations made on these CPUs: 0,2-3")->option_text("LIST");
  command->add_option("--pid", options->pids, "Only allocations made by these tasks: 1234,5678\nThread ids.")
      ->option_text("LIST");
  command
      ->add_option("--comm", options->comms,
                   "Only allocations made by tasks of this name\nA glob as in a shell, 'kworker*'; may be given more "
                   "than once. What interrupts allocate belongs to no task but to '[softirq]', '[hardirq]' or "
                   "'[nmi]'.")
      ->option_text("GLOB")
      ->expected(1)
      ->allow_extra_args(false)  // else CLI11 takes the brackets for a list's
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--buffer", options->buffer,
                   "Only this buffer (instance) of a trace with several\n`trace-cmd record -B NAME` makes them; the "
                   "main one has no name. Without it all are reported together.")
      ->option_text("NAME");
  command->add_flag("--json", options->json, "Print JSON, schema kmemtrace.report/1");
  command->add_flag("--raw", options->raw, "Print plain digits, full names and every column, however wide");
  command->add_flag("--no-progress", options->no_progress, "Show no progress line on the terminal");
  command->footer(kFooter);
  command->callback([options, &exit_code] { exit_code = report(*options); });
  return command;
}

}  // namespace kmt
