// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace snapshot
#include <memory>

#include "analysis/snapshot.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/column_options.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/snapshot_files.hpp"
#include "cli/trace_options.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"
#include "views/json_snapshot.hpp"
#include "views/text_snapshot.hpp"

namespace kmt {

namespace {

struct Options {
  std::string file;
  std::string from;
  std::string output;
  std::string sort;
  SnapshotOptions view;
  ResultOptions result;
};

constexpr const char* kFooter = R"(Examples:
  kmemtrace snapshot                             where this machine's memory is now
  kmemtrace snapshot -o before.kmt; make; kmemtrace snapshot -o after.kmt; kmemtrace diff before.kmt after.kmt
  kmemtrace snapshot after.kmt --sort free       which slab caches hold memory that nobody uses
  kmemtrace snapshot --from copied/ --json       of files that were copied from another machine

Nothing is traced: a snapshot is what the kernel keeps anyway, read once. The lines of the balance sheet that are not
indented add up to MemTotal. "What nobody accounts for" are pages that were taken straight from the page allocator and
that the kernel does not count: buffers of pipes, sockets and rings, drivers' memory.

What else is shown depends on what the kernel was built and booted with; what is missing is named, with the way to get
it. Some files are for root alone.

Exit status:
  0    shown or written
  2    wrong usage, or the file or folder cannot be read
  3    not permitted to read the file)";

SnapshotResult snapshot_of(const StateSample& sample, const KernelDescription& kernel) {
  KernelMemory memory = parse_snapshot(sample, kernel.page_size);
  if (memory.release.empty()) memory.release = kernel.release;
  if (memory.machine.empty()) memory.machine = kernel.machine;
  return take_stock(std::move(memory));
}

// What is known of the machine that copies came from.
KernelDescription described(const StateSample& sample) {
  const KernelMemory memory = parse_snapshot(sample, 0);
  KernelDescription kernel;
  kernel.system_name = "Linux";
  kernel.release = memory.release;
  kernel.machine = memory.machine;
  kernel.page_size = memory.page_size;
  return kernel;
}

SnapshotResult take(const Options& options) {
  const StateSample sample = options.from.empty() ? collect_snapshot() : collect_snapshot_from(options.from);
  KernelDescription kernel = options.from.empty() ? describe_running_kernel() : described(sample);
  SnapshotResult result = snapshot_of(sample, kernel);
  if (!options.output.empty()) {
    kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
    write_snapshot(options.output, sample, kernel);
  }
  return result;
}

void run_snapshot(Options& options) {
  if (!options.sort.empty()) options.view.sort = &column_named(pointers_to(slab_cache_columns()), options.sort);
  const SnapshotResult result = options.file.empty() ? take(options) : read_snapshot(options.file);
  if (!options.output.empty() && !options.result.json) return;
  print_result(options.result.json ? json_snapshot(result, options.view)
                                   : text_snapshot(result, options.view, stdout_style(options.result.style)));
}

}  // namespace

CLI::App* add_snapshot_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("snapshot", "Show where the kernel's memory is now, without tracing.");
  const auto options = std::make_shared<Options>();
  CLI::Option* const file = command->add_option(
      "FILE", options->file,
      "Show a snapshot that was written with -o\nOr a recording (.kmt), which has the state of memory at its end.");
  CLI::Option* const from =
      command
          ->add_option("--from", options->from,
                       "Take copies of the kernel's files in FOLDER, of any machine\nNamed as in /proc (meminfo, "
                       "slabinfo, …), or by their whole path: FOLDER/proc/meminfo, FOLDER/sys/kernel/slab. With a file "
                       "uname, what `uname -a` said.")
          ->type_name("FOLDER");
  CLI::Option* const output =
      command
          ->add_option("-o,--output", options->output,
                       "Write the snapshot to FILE.kmt instead of showing it\nWith --json, do both.")
          ->type_name("FILE");
  file->excludes(from)->excludes(output);
  command
      ->add_option(
          "--sort", options->sort,
          "Order slab caches by KEY, largest first (default: held)\nKeys:" + list_of(pointers_to(slab_cache_columns())))
      ->option_text("KEY");
  add_limit_option(*command, options->view.limit, "rows in each table");
  add_result_options(*command, options->result, "kmemtrace.snapshot/1", "plain digits, full names and empty lines");
  command->footer(kFooter);
  command->callback([options, &exit_code] {
    run_snapshot(*options);
    exit_code = 0;
  });
  return command;
}

}  // namespace kmt
