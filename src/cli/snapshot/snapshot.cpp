// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace snapshot
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/snapshot/files.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/say.hpp"
#include "formats/kmt/snapshot.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/snapshot.hpp"

namespace kmt {

namespace {

struct SnapshotArguments {
  std::string file;
  std::string from;
  std::string output;
  std::string sort;
  std::string every;
  std::string lasting;
  SnapshotOptions view;
  ResultOptions result;
};

constexpr const char* kSnapshotFooter = R"(Examples:
  kmemtrace snapshot                             where this machine's memory is now
  kmemtrace snapshot -o before.kmt; make; kmemtrace snapshot -o after.kmt; kmemtrace diff before.kmt after.kmt
  kmemtrace snapshot after.kmt --sort free       which slab caches hold unused memory
  kmemtrace snapshot --from copied/ --json       of files that were copied from another machine
  kmemtrace snapshot --every 10s --for 1h -o hour.kmt; kmemtrace leaks hour.kmt
                                                 what grows in an hour; also report, timeline and diff

Nothing is traced: a snapshot reads the kernel's own counters once. The lines of the balance sheet that are not
indented add up to MemTotal. Unaccounted memory is pages that were taken straight from the page allocator and that the
kernel does not count: buffers of pipes, sockets and rings, drivers' memory.

Other sections depend on the kernel's configuration and boot parameters; missing ones are listed with advice. Some files are readable by root only.

Exit status:
  0    shown or written
  2    wrong usage, or a file or folder cannot be read or written
  3    not permitted to read or write the file)";

// The known facts of the machine of the copies.
KernelDescription described(const StateSample& sample) {
  const KernelMemory memory = parse_snapshot(sample, 0);
  KernelDescription kernel;
  kernel.system_name = "Linux";
  kernel.release = memory.release;
  kernel.machine = memory.machine;
  kernel.node_name = memory.host;
  kernel.page_size = memory.page_size;
  return kernel;
}

SnapshotResult take(const SnapshotArguments& options) {
  const StateSample sample = options.from.empty() ? collect_snapshot() : collect_snapshot_from(options.from);
  KernelDescription kernel = options.from.empty() ? describe_running_kernel() : described(sample);
  SnapshotResult result = snapshot_of(sample, kernel);
  if (!options.output.empty()) {
    kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
    kmt_format::write_snapshot(options.output, sample, kernel);
  }
  return result;
}

Error wrong_series(const char* what, const char* hint) { return Error(what).hint(hint); }

// At even intervals; a slow one delays the next ones, but not all later ones.
void take_series(const SnapshotArguments& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kShortest = 100'000'000;  // ns
  constexpr std::chrono::milliseconds kTurn(50);    // latency of Ctrl+C
  if (options.output.empty()) throw wrong_series("--every needs a file for the snapshots", "Name it: -o FILE.kmt");
  if (options.result.json)
    throw wrong_series("--every writes a file and shows nothing", "Drop --json; later: kmemtrace leaks FILE --json");
  const std::uint64_t every = parse_duration(options.every);
  if (every < kShortest)
    throw wrong_series("--every must be at least 100ms (shorter ones would measure themselves)",
                       "Name a longer one: 10s");
  const std::uint64_t most = options.lasting.empty() ? 0 : parse_duration(options.lasting);

  KernelDescription kernel = describe_running_kernel();
  kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
  // Even if this process is killed, nothing unfinished is left.
  prepare_file(options.output);
  start_outside();
  kmt_format::SnapshotWriter file(options.output, kernel);
  const InterruptGuard guard;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [start] {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
  };
  std::uint64_t taken = 0;
  std::uint64_t late = 0;     // because the one before took longer than the interval
  std::uint64_t longest = 0;  // ns of that one
  for (std::uint64_t next = 0; !guard.interrupted() && (options.lasting.empty() || next <= most);) {
    if (elapsed() < next) {
      std::this_thread::sleep_for(kTurn);
      continue;
    }
    const std::uint64_t now = elapsed();
    StateSample sample = collect_snapshot();
    sample.ticks = now;
    file.add(sample);
    file.publish();
    ++taken;
    longest = std::max(longest, elapsed() - now);
    if (elapsed() > next + every) ++late;
    next = std::max(next + every, elapsed());
  }
  file.finish();
  const std::uint64_t lasted = elapsed();
  say("{}: {} snapshot{} in {}, {}\n", printable(options.output), humane_count(taken), taken == 1 ? "" : "s",
      humane_duration(lasted), humane_bytes(file.bytes()));
  if (late > 0)
    say("{} of them started late: reading all files takes {} here\n", humane_count(late), humane_duration(longest));
}

void run_snapshot(const Command& command, SnapshotArguments& options) {
  if (!options.every.empty()) return take_series(options);
  if (!options.lasting.empty())
    throw wrong_series("--for is the length of a series, which needs --every", "Give the interval: --every 10s");
  if (!options.sort.empty()) options.view.sort = &column_named(pointers_to(slab_cache_columns()), options.sort);
  if (!options.file.empty() || !options.from.empty()) confine_reading(command, {options.output});
  const SnapshotResult result = options.file.empty() ? take(options) : read_snapshot(options.file);
  if (!options.output.empty() && !options.result.json) return;
  print_result(options.result.json ? json_snapshot(result, options.view)
                                   : text_snapshot(result, options.view, stdout_style(options.result.style)));
}

}  // namespace

Command snapshot_command() {
  const auto options = std::make_shared<SnapshotArguments>();
  Command command{"snapshot", "Show how the kernel's memory is used now, without tracing.", kSnapshotFooter,
                  [options](const Command& self) {
                    run_snapshot(self, *options);
                    return 0;
                  }};
  command.argument(
      "FILE", &options->file,
      "Show a snapshot that was written with -o\nOr a recording (.kmt), which has the state of memory at its end.",
      {.excludes = {"--from", "--output"}});
  command.option("--from", &options->from, "FOLDER",
                 "Read copies of the kernel's files in FOLDER, from any machine\nThey are named as in /proc (meminfo, "
                 "slabinfo, …), or by their full path: FOLDER/proc/meminfo, FOLDER/sys/kernel/slab. A file uname may "
                 "have the output of `uname -a`.");
  command.option("-o,--output", &options->output, "FILE",
                 "Write the snapshot to FILE.kmt instead of showing it\nWith --json, do both.");
  command.option("--every", &options->every, "INTERVAL",
                 "Take a snapshot every INTERVAL, e.g. 10s or 1m, and write them to the file of -o\n"
                 "Until Ctrl+C or for the time of --for. The file grows by the changes only, and a kill loses no "
                 "finished snapshot.",
                 {.excludes = {"FILE", "--from"}});
  command.option("--for", &options->lasting, "DURATION", "End the series of --every after DURATION, e.g. 1h");
  command.option(
      "--sort", &options->sort, "KEY",
      "Order slab caches by KEY, largest first (default: held)\nKeys:" + list_of(pointers_to(slab_cache_columns())));
  add_limit_option(command, options->view.limit, "rows in each table");
  add_result_options(command, options->result, "kmemtrace.snapshot/1", "plain digits, full names and empty lines");
  return command;
}

}  // namespace kmt
