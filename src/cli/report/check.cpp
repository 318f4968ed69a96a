// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace check
#include "analysis/report/check.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "cli/input/reading.hpp"
#include "cli/input/symbol_options.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/errors.hpp"
#include "cli/support/output.hpp"
#include "views/json/check.hpp"
#include "views/text/check.hpp"

namespace kmt {

namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::string abi;
  bool records_only = false;
  bool json = false;
  StyleOptions style;
  bool no_progress = false;
};

constexpr const char* kCheckFooter = R"(Examples:
  kmemtrace check trace.kmt
  kmemtrace check --json *.kmt *.dat
  kmemtrace check capture/             a folder with cpu0.out, cpu1.out, …
  kmemtrace check --records-only cpu1.out

A file is sound if no number that a report shows is wrong or uncertain. Otherwise, the first lines name the affected
numbers. Live counts that a report marks with <= as upper bounds do not make a file unsound. docs/imperfections.md
explains each finding and gives advice.

Exit status (the worst one of several files):
  0    sound
  1    a reported number is affected
  2    wrong usage, or a file cannot be read
  3    not permitted to read a file
  130  interrupted by Ctrl+C; the findings cover the part that was read)";

CheckedFile check_file(const std::string& path, const CheckArguments& options) {
  CheckedFile checked{path, {}, {}};
  try {
    const std::unique_ptr<Source> source =
        open_for_reading(path, OpenOptions{{}, {}, options.abi, options.records_only});
    const WrapperList wrappers = wrapper_list({});
    const Symbols symbols(source->info(), {}, wrappers);
    CheckAnalysis analysis(source->info(), !options.records_only, &symbols);
    const bool complete = read_trace(
        *source, [&](const EventBatch& batch) { analysis.add(batch); }, !options.no_progress);
    checked.result = analysis.finish(complete);
  } catch (Error& error) {
    checked.error = error.at({path, {}, {}});
  }
  return checked;
}

int exit_code_of(const CheckedFile& file) {
  if (file.error) return static_cast<int>(file.error->exit_code());
  if (!file.result->trace.complete) return kInterruptedExitCode;
  return static_cast<int>(file.result->sound ? ExitCode::good : ExitCode::found);
}

int check(const CheckArguments& options) {
  std::vector<CheckedFile> checked;
  int worst = 0;
  for (const std::string& path : options.files) {
    const CheckedFile& file = checked.emplace_back(check_file(path, options));
    worst = std::max(worst, exit_code_of(file));
    if (!options.json && file.result) print_result(text_check(*file.result, stdout_style(options.style)));
    if (file.error) print_error(*file.error);
    if (file.result && !file.result->trace.complete) break;
  }
  if (options.json) print_result(json_check(checked));
  return worst;
}

}  // namespace

Command check_command() {
  const auto options = std::make_shared<CheckArguments>();
  Command command{"check", "Check whether traces are sound: damage, lost events and broken rules.", kCheckFooter,
                  [options](const Command&) { return check(*options); }};
  command.argument("FILE", &options->files, "The traces to check; - is standard input", {.required = true});
  add_abi_option(command, options->abi);
  command.flag("--records-only", &options->records_only,
               "Check each record separately, without matching frees to allocations\nUse this for the file of one CPU "
               "without the files of the other CPUs.");
  command.flag("--json", &options->json, "Print JSON, schema kmemtrace.check/1");
  add_style_options(command, options->style);
  command.flag("--no-progress", &options->no_progress, "Show no progress line on the terminal");
  return command;
}

}  // namespace kmt
