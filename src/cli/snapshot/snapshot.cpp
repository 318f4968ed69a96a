// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace snapshot
#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "analysis/snapshot/census_text.hpp"
#include "base/confinement/outside.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "cli/input/trace_options.hpp"
#include "cli/snapshot/objects.hpp"
#include "cli/snapshot/pages.hpp"
#include "cli/support/column_options.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/confined.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/output.hpp"
#include "cli/support/parse.hpp"
#include "cli/support/say.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"
#include "snapshot/collect.hpp"
#include "snapshot/parse.hpp"
#include "views/json/objects.hpp"
#include "views/json/snapshot.hpp"
#include "views/text/snapshot.hpp"
#include "views/text/snapshot/objects.hpp"

namespace kmt {

namespace {

struct SnapshotArguments {
  std::string file;
  std::string from;
  std::string output;
  std::string sort;
  std::string every;
  std::string lasting;
  bool pages = false;
  std::string objects;
  std::size_t most_objects = ObjectLimits().objects;
  std::string most_bytes;
  SnapshotOptions view;
  ResultOptions result;
};

constexpr const char* kSnapshotFooter = R"(Examples:
  kmemtrace snapshot                             shows how memory of this machine is used now
  kmemtrace snapshot -o before.kmt; make; kmemtrace snapshot -o after.kmt; kmemtrace diff before.kmt after.kmt
  kmemtrace snapshot --pages                     counts all page frames by use, block size and cgroup
  kmemtrace snapshot --pages -o before.kmt       stores the counts; diff compares them with those of a later snapshot
  kmemtrace snapshot --objects kmalloc-192       names the objects in a slab cache, by their pointers
  kmemtrace snapshot after.kmt --sort free       shows slab caches with unused memory
  kmemtrace snapshot --from copied/ --json       uses files that were copied from another machine
  kmemtrace snapshot --from sosreport.tar.xz     uses an archive of a support tool
  journalctl -k | kmemtrace snapshot --from -    shows where memory was at the last OOM kill in the kernel's log
  kmemtrace snapshot --every 10s --for 1h -o hour.kmt; kmemtrace leaks hour.kmt
                                                 shows growth in an hour; report, timeline and diff also work

A snapshot reads the kernel's counters once and traces nothing. The lines of the balance sheet that are not indented add
up to MemTotal. Unaccounted memory consists of pages that were allocated directly from the page allocator and are in no
counter of the kernel. Examples are buffers of pipes, sockets and rings, and memory of drivers. The section on owners
names the processes, devices and tracing instances that hold such memory, as far as the kernel names them.
docs/owners.md lists the kinds of owners, and how exact their amounts are.

The health checks compare numbers with limits that healthy machines stay below. docs/health.md lists the checks.

Other sections depend on the kernel's configuration and boot parameters. Missing sections are listed with advice. Only
root can read some of the files.

Exit status:
  0    shown or written
  2    wrong usage, or a file or folder cannot be read or written
  3    not permitted to read or write the file, or the kernel does not support --pages or --objects
  130  Ctrl+C stopped --pages or --objects)";

// Describes the kernel from which the files were copied, as far as the files show it.
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

void write(const std::string& path, const std::vector<StateSample>& states, KernelDescription kernel) {
  kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
  kmt_format::SnapshotWriter file(path, kernel);
  for (const StateSample& state : states) file.add(state);
  file.finish();
}

// Reads copies. The reports of a log are written as a series.
SnapshotResult take_copies(const SnapshotArguments& options) {
  Copies copies = load_copies(options.from);
  if (!options.output.empty()) {
    const std::vector<StateSample> states = copies.state ? std::vector{*copies.state} : copies.reports;
    write(options.output, states, described(states.back()));
  }
  return snapshot_of(std::move(copies));
}

// Returns nothing if Ctrl+C stopped the counting of page frames.
std::optional<SnapshotResult> take(const SnapshotArguments& options) {
  if (!options.from.empty()) return take_copies(options);
  StateSample sample = collect_snapshot();
  const KernelDescription kernel = describe_running_kernel();
  if (options.pages) {
    const std::optional<PageCensus> census = count_pages(sample, kernel.page_size, true);
    if (!census) return std::nullopt;
    sample.texts.emplace_back("census", census_text(*census));
  }
  if (!options.output.empty()) write(options.output, {sample}, kernel);
  return snapshot_of(sample, kernel);
}

Error wrong_series(const char* what, const char* hint) { return Error(what).hint(hint); }

// Sleeps for at most this time, and at most a second. A signal ends the sleep. A signal that arrives just before the
// sleep does not end it, so the sleep is short.
void sleep_until_signal(std::uint64_t ns) {
  constexpr std::uint64_t kMost = 999'999'999;
  const timespec time{0, static_cast<long>(std::min(ns, kMost))};
  ::nanosleep(&time, nullptr);
}

// Takes snapshots at regular intervals. If a snapshot takes too long, only the next one is late.
void take_series(const SnapshotArguments& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::uint64_t kShortest = 100'000'000;  // ns
  if (options.output.empty()) throw wrong_series("--every needs an output file for the snapshots", "Add -o FILE.kmt");
  if (options.result.json)
    throw wrong_series("--every cannot be used with --json, because it only writes a file",
                       "Remove --json. After the series, run: kmemtrace leaks FILE --json");
  const std::uint64_t every = parse_duration(options.every);
  if (every < kShortest)
    throw wrong_series(
        "--every must be at least 100ms, because snapshots in shorter intervals would distort the result",
        "Use a longer interval: 10s");
  const std::uint64_t most = options.lasting.empty() ? 0 : parse_duration(options.lasting);

  KernelDescription kernel = describe_running_kernel();
  kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
  // If this process is killed, a separate process removes the unfinished file.
  start_outside_with_file(options.output);
  kmt_format::SnapshotWriter file(options.output, kernel);
  const InterruptGuard guard;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [start] {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
  };
  std::uint64_t taken = 0;
  std::uint64_t late = 0;     // number of snapshots that started late, because the previous snapshot took too long
  std::uint64_t longest = 0;  // duration of the slowest snapshot in ns
  SeriesReadings readings;
  for (std::uint64_t next = 0; !guard.interrupted() && (options.lasting.empty() || next <= most);) {
    const std::uint64_t now = elapsed();
    if (now < next) {
      sleep_until_signal(next - now);
      continue;
    }
    file.add(collect_snapshot(readings, now));
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
    say("{} snapshots started late, because reading all files takes {} here\n", humane_count(late),
        humane_duration(longest));
}

void refuse_pages_of_files(const SnapshotArguments& options) {
  if (!options.file.empty() || !options.from.empty())
    throw Error("--pages counts the page frames of the running machine")
        .hint(
            "Run `kmemtrace snapshot --pages -o FILE.kmt` on the machine itself, and then show FILE.kmt without "
            "--pages");
  if (!options.every.empty())
    throw Error("--pages cannot be used with --every, because counting all page frames takes too long")
        .hint("Count them at the start and at the end: kmemtrace snapshot --pages -o FILE.kmt");
}

// Returns the exit status.
int show_objects(const SnapshotArguments& options) {
  if (!options.file.empty() || !options.from.empty() || !options.output.empty() || !options.every.empty())
    throw Error("--objects reads the memory of the running kernel, and files have no copy of it")
        .hint("Write the result as JSON instead: kmemtrace snapshot --objects CACHE --json > FILE.json");
  if (!options.lasting.empty() || !options.sort.empty()) throw Error("--objects cannot be used with --for or --sort");
  const std::vector<std::string> names = split_commas({options.objects});
  if (names.empty()) throw Error("--objects names no slab cache").hint("Name one: --objects kmalloc-192");
  ObjectLimits limits;
  limits.objects = options.most_objects;
  if (!options.most_bytes.empty()) limits.bytes = parse_size(options.most_bytes);
  if (limits.bytes < kLeastBytesToRead)
    throw Error(fmt::format("--most-bytes {} is too little to find slab caches", printable(options.most_bytes)))
        .hint("Use at least 1M");
  const std::optional<ObjectsReport> report = sample_caches(names, limits);
  if (!report) {
    say("Interrupted before all objects of the sample were read\n");
    return kInterruptedExitCode;
  }
  print_result(options.result.json ? json_objects(*report, options.view)
                                   : text_objects(*report, options.view, stdout_style(options.result.style)));
  return 0;
}

// Returns the exit status.
int run_snapshot(const Command& command, SnapshotArguments& options) {
  if (command.has("--objects")) return show_objects(options);
  if (options.pages) refuse_pages_of_files(options);
  if (!options.every.empty()) {
    take_series(options);
    return 0;
  }
  if (!options.lasting.empty())
    throw wrong_series("--for is the length of a series and needs --every", "Add the interval: --every 10s");
  if (!options.sort.empty()) options.view.sort = &column_named(pointers_to(slab_cache_columns()), options.sort);
  if (!options.file.empty() || !options.from.empty()) confine_reading(command, {options.output});
  const std::optional<SnapshotResult> result =
      options.file.empty() ? take(options) : std::optional(read_snapshot(options.file));
  if (!result) {
    say("Interrupted before all page frames were counted\n");
    return kInterruptedExitCode;
  }
  if (!options.output.empty() && !options.result.json) return 0;
  print_result(options.result.json ? json_snapshot(*result, options.view)
                                   : text_snapshot(*result, options.view, stdout_style(options.result.style)));
  return 0;
}

}  // namespace

Command snapshot_command() {
  const auto options = std::make_shared<SnapshotArguments>();
  Command command{"snapshot", "Show how the kernel's memory is used now, without tracing.", kSnapshotFooter,
                  [options](const Command& self) { return run_snapshot(self, *options); }};
  command.argument("FILE", &options->file,
                   "Show a snapshot that was written with -o\nFILE may also be a recording (.kmt), which contains the "
                   "state of memory at its end.",
                   {.excludes = {"--from", "--output"}});
  command.option("--from", &options->from, "PATH",
                 "Read copies of kernel files, or a kernel log, from any machine\nPATH is a folder, whose files have "
                 "their names in /proc (meminfo, slabinfo, …) or their full path (proc/meminfo, sys/kernel/slab). A "
                 "file uname may contain the output of `uname -a`. PATH may also be a folder or archive (tar, also "
                 "compressed) of sosreport, insights, kdump or must-gather, or a kernel log with the report of an OOM "
                 "kill: the output of dmesg or journalctl, or a file of syslog. PATH may also be one text with several "
                 "files, as `cat /proc/meminfo /proc/slabinfo` writes it. `-` is standard input.");
  command.option("-o,--output", &options->output, "FILE",
                 "Write the snapshot to FILE.kmt instead of showing it\nWith --json, write the file and print JSON.");
  command.option("--every", &options->every, "INTERVAL",
                 "Take a snapshot every INTERVAL, e.g. 10s or 1m, and write all snapshots to the file of -o\n"
                 "The series ends at Ctrl+C or after the time of --for. Only the changes between snapshots are stored. "
                 "If the program is killed, complete snapshots are not lost.",
                 {.excludes = {"FILE", "--from"}});
  command.option("--for", &options->lasting, "DURATION", "End the series of --every after DURATION, e.g. 1h");
  command.flag(
      "--pages", &options->pages,
      "Count all page frames of this machine by use, size of their blocks, and cgroup\nThe counts are compared "
      "with the kernel's counters. They also split unaccounted memory, and show pageblocks that hold both movable and "
      "unmovable pages, and the slab caches in these blocks. With -o, the counts are stored in FILE.kmt. Needs root, "
      "and less than 0.1 s for each GiB of memory.");
  command.option(
      "--objects", &options->objects, "CACHE[,CACHE]",
      "Show which kinds of objects fill these slab caches (no trace is needed)\nReads a sample of the "
      "live objects from /proc/kcore and groups them by the functions, variables and other objects they "
      "point to. Names the module of each kind and, if the kernel's types show it, the structure. Prints "
      "addresses and symbols, but no contents of objects. Without /proc/kcore, a BPF program reads the objects. "
      "Needs root with CAP_SYS_RAWIO (for BPF: CAP_BPF and CAP_PERFMON), x86-64 or arm64, and a kernel without "
      "lockdown in the mode confidentiality.",
      {.excludes = {"--pages"}});
  command.option("--most-objects", &options->most_objects, "N",
                 "Sample about N objects of each cache of --objects (default: 4000)",
                 {.range = OptionRange{1, 1'000'000}, .needs = {"--objects"}});
  command.option("--most-bytes", &options->most_bytes, "SIZE",
                 "Read at most SIZE of the kernel's memory for --objects (default: 256M)", {.needs = {"--objects"}});
  command.option(
      "--sort", &options->sort, "KEY",
      "Sort slab caches by KEY, largest first (default: held)\nKeys:" + list_of(pointers_to(slab_cache_columns())));
  add_limit_option(command, options->view.limit, "rows in each table");
  add_result_options(command, options->result, "kmemtrace.snapshot/1 (with --objects: kmemtrace.objects/1)",
                     "plain digits, full names and empty lines");
  return command;
}

}  // namespace kmt
