// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace record
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/features/clocks.hpp"
#include "capture/features/events.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/tracefs/recorder.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "formats/tracedat/writer.hpp"

namespace kmt {

namespace {

namespace fs = std::filesystem;

struct Options {
  std::string output = "trace.dat";
  std::vector<std::string> events;
  std::vector<std::string> pids;
  std::string duration;
  std::string buffer;
  std::string clock;
  unsigned version = 7;
  bool only_command = false;
  bool remove_stale = false;
  bool no_progress = false;
  std::vector<std::string> command;
};

constexpr const char* kFooter = R"(Examples:
  kmemtrace record                              this machine, until Ctrl+C, into trace.dat
  kmemtrace record --duration 10s -o boot.dat   ten seconds
  kmemtrace record -- make -j8                  this machine, while make runs
  kmemtrace record -F -- ls                     only ls and what it starts
  kmemtrace record -p 812 -p 813 --duration 5s  two tasks and what they fork
  kmemtrace record -e kmem:kmalloc,kmem:kfree -e 'sched:sched_process_*'

When the recording ends before COMMAND does (--duration, Ctrl+C), COMMAND is asked to end (SIGTERM).

Without -F the whole machine is recorded while COMMAND runs: what a command allocates is often freed by others (RCU,
soft interrupts, kernel threads), and would look leaked if only the command were seen.

kmemtrace traces in an instance of its own and leaves other people's tracing alone. The instance is removed however
the recording ends. What the recorder itself allocates is kept out by a filter in the kernel.

Exit status:
  0  recorded
  2  wrong usage, a command that cannot be executed, or the trace cannot be written
  3  not permitted or not supported here)";

// On stderr. That nobody can read a message is no reason to end a recording.
template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}

bool ask(const std::string& question) {
  std::fputs((question + " [y/N] ").c_str(), stderr);
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

// Instances of killed runs hold memory and slow the machine down: said at every start, removed when wanted.
void offer_to_remove_stale(const std::string& tracefs, bool remove) {
  std::vector<std::string> stale = stale_instances(tracefs);
  if (!stale.empty()) {  // its watcher may be removing it right now
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stale = stale_instances(tracefs);
  }
  if (stale.empty()) return;
  if (!remove && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1)
    remove = ask(fmt::format("A killed kmemtrace left tracing on in {}. Remove it?", fmt::join(stale, ", ")));
  for (const std::string& path : stale) {
    if (!remove)
      say("note: a killed kmemtrace left tracing on: remove it with --remove-stale, or: rmdir {}\n", path);
    else if (remove_instance(path))
      say("Removed {}, left by a killed run\n", path);
    else
      say("note: {} is still in use and cannot be removed\n", path);
  }
}

std::vector<std::string> split_commas(const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (const std::string& value : values)
    for (const std::string_view part : split(value, ','))
      if (!part.empty()) parts.emplace_back(part);
  return parts;
}

std::vector<pid_t> parse_pids(const std::vector<std::string>& values) {
  std::vector<pid_t> pids;
  for (const std::string& part : split_commas(values)) {
    int pid = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), pid);
    if (code != std::errc{} || end != part.data() + part.size() || pid <= 0)
      throw Error(fmt::format("\"{}\" is not a process id", part));
    if (!fs::exists(fmt::format("/proc/{}", pid))) throw Error(fmt::format("There is no process {}", pid));
    pids.push_back(pid);
  }
  return pids;
}

// Fails before anything is recorded, not after.
void check_output(const std::string& path) {
  std::error_code code;
  if (path == "-") throw Error("A trace cannot be written to stdout: name a file with -o");
  const fs::file_status status = fs::status(path, code);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    Error error("The output is not a regular file");
    error.hint("Recorded pages are moved inside the kernel, which needs a file: choose one with -o");
    throw error.at({path, {}, {}});
  }
  const fs::path directory = fs::absolute(path).parent_path();
  if (!fs::is_directory(directory, code)) throw Error("The output's directory does not exist").at({directory, {}, {}});
  if (::access(directory.c_str(), W_OK) != 0)
    throw Error("Cannot write to the output's directory").at({directory, {}, {}});
}

RecordRequest request_of(const Options& options, const std::string& tracefs) {
  RecordRequest request;
  const std::vector<EventName> available = available_events(tracefs);
  const std::vector<std::string> patterns = split_commas(options.events);
  if (patterns.empty() && !options.events.empty()) throw Error("-e needs the name of an event");
  request.events =
      options.events.empty() ? default_events(tracefs, available).present : select_events(available, patterns);
  if (request.events.empty()) {
    Error error("This kernel has no kmem events", ExitCode::unsupported);
    error.hint("`kmemtrace list events` says why");
    throw error;
  }
  request.pids = parse_pids(options.pids);
  request.command = options.command;
  request.only_command = options.only_command;
  if (options.only_command && options.command.empty())
    throw Error("-F needs a command: kmemtrace record -F -- COMMAND");
  if (options.only_command && !request.pids.empty()) throw Error("-F and -p exclude each other");
  if (!options.duration.empty()) request.duration_ns = parse_duration(options.duration);
  if (request.duration_ns == 0) throw Error("A duration of 0 records nothing");
  request.buffer_bytes =
      options.buffer.empty() ? buffer_limits(tracefs).default_bytes_per_cpu : parse_size(options.buffer);
  if (request.buffer_bytes < 8192) throw Error("A buffer of less than 8k a CPU holds no events");

  const TraceClocks clocks = read_clocks(tracefs);
  request.clock = options.clock.empty() ? clocks.recommended : options.clock;
  if (std::find(clocks.offered.begin(), clocks.offered.end(), request.clock) == clocks.offered.end()) {
    Error error(fmt::format("This kernel has no clock \"{}\"", request.clock));
    error.hint(fmt::format("It has: {}", fmt::join(clocks.offered, ", ")));
    throw error;
  }
  request.scratch_directory = fs::absolute(options.output).parent_path();
  return request;
}

// Room on the disk for what is written last, taken at the start: a full disk then still leaves a readable trace.
class Reserve {
 public:
  void take(const std::string& directory, std::uint64_t bytes) {
    file_ = unnamed_file(directory);
    const int code = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes));
    if (code != ENOSPC && code != EDQUOT) return;
    Error error(fmt::format("The disk is full: {} are needed to begin with", humane_bytes(bytes)));
    error.hint("Choose another place with -o");
    throw error.at({directory, {}, {}});
  }
  void release() { file_.reset(); }

 private:
  FileDescriptor file_;
};

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool wanted() const { return wanted_; }
  void update(const RecordProgress& progress) {
    if (!wanted_ || progress.seconds < shown_at_ + kEvery) return;
    const double rate = static_cast<double>(progress.events - events_) / (progress.seconds - shown_at_);
    say("\r\x1b[K{:.1f} s  {} events  {} events/s  {}  {} lost", progress.seconds, humane_count(progress.events),
        humane_count(static_cast<std::uint64_t>(rate)), humane_bytes(progress.bytes), humane_count(progress.lost));
    std::fflush(stderr);
    shown_at_ = progress.seconds;
    events_ = progress.events;
  }
  void clear() {
    if (wanted_ && shown_at_ > 0) std::fputs("\r\x1b[K", stderr);
    shown_at_ = 0;
  }

 private:
  static constexpr double kEvery = 0.5;
  bool wanted_;
  double shown_at_ = 0;
  std::uint64_t events_ = 0;
};

std::string describe_command_end(const RecordOutcome& outcome, const std::vector<std::string>& command) {
  if (command.empty()) return {};
  if (!outcome.command_status) return fmt::format("{} still runs", printable(command.front()));
  const int status = *outcome.command_status;
  if (WIFSIGNALED(status))
    return fmt::format("{} was ended by signal {}", printable(command.front()), WTERMSIG(status));
  return fmt::format("{} exited with {}", printable(command.front()), WEXITSTATUS(status));
}

// Events, bytes, and what was lost on which CPU.
void print_summary(const Options& options, const RecordOutcome& outcome) {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t bytes = 0;
  std::string lost_by_cpu;
  for (const RawCpu& cpu : outcome.recording.cpus) {
    const CpuCounters counters = parse_cpu_counters(cpu.statistics);
    const std::uint64_t cpu_lost = counters.lost + counters.unread;
    overwritten += counters.lost;
    events += counters.read;
    lost += cpu_lost;
    bytes += cpu.bytes;
    if (cpu_lost > 0) lost_by_cpu += fmt::format("  cpu {}: {} lost\n", cpu.cpu, humane_count(cpu_lost));
  }
  say("{}: {} events in {:.1f} s, {} of ring buffer, clock {}\n", printable(options.output), humane_count(events),
      outcome.seconds, humane_bytes(bytes), outcome.recording.kernel.clock);
  if (const std::string command = describe_command_end(outcome, options.command); !command.empty())
    say("{}\n", command);
  if (lost == 0) return say("Nothing was lost\n");
  say("{} events were lost:\n{}", humane_count(lost), lost_by_cpu);
  if (overwritten > 0) say("Larger buffers (-b) or fewer events (-e) lose less\n");
}

void record_trace(const Options& options) {
  std::signal(SIGXFSZ, SIG_IGN);                             // a file size limit is a full disk: an error of the write
  const InterruptGuard interrupt(SecondSignal::is_ignored);  // impatience must not cost the trace
  std::signal(SIGPIPE, [](int) {});  // unlike "ignore", a handler is not inherited by the command
  check_output(options.output);
  const std::string tracefs = usable_tracefs();
  offer_to_remove_stale(tracefs, options.remove_stale);
  const RecordRequest request = request_of(options, tracefs);

  ProgressLine progress(!options.no_progress);
  Reserve reserve;
  RecordHooks hooks;
  hooks.interrupted = [&] { return interrupt.interrupted(); };
  if (progress.wanted()) hooks.progress = [&](const RecordProgress& now) { progress.update(now); };
  hooks.described = [&](const KernelDescription& kernel) {
    if (!has_addresses(kernel.kallsyms))
      say("note: /proc/kallsyms shows no addresses, so call sites will have no names: as root, "
          "sysctl kernel.kptr_restrict=1\n");
    // What a page more for each CPU, and copying in steps, takes on top.
    reserve.take(request.scratch_directory, tracedat::metadata_bytes(kernel) + (18ull << 20));
    if (request.command.empty() && ::isatty(STDERR_FILENO) == 1)
      say("Recording {} events into {}; Ctrl+C ends it\n", request.events.size(), printable(options.output));
  };
  RecordOutcome outcome = record(tracefs, request, hooks);
  progress.clear();
  reserve.release();
  tracedat::write(options.output, options.version, outcome.recording);
  print_summary(options, outcome);
  if (outcome.filtered_by_pid_list)
    say("note: interrupts that ran on top of the recorder's own threads are not in the trace: it has many\n");
  if (outcome.own_events_recorded)
    say("note: the recorder's own events are in the trace: in a PID namespace (a container) it cannot tell the kernel "
        "which they are. Record on the host to leave them out\n");
  if (!outcome.left_instance.empty())
    say("note: somebody keeps {} open, so it could not be removed; it is switched off. Remove it with: rmdir {}\n",
        outcome.left_instance, outcome.left_instance);
  if (outcome.end != RecordEnd::cannot_write) return;
  Error error(fmt::format("The recording ended early: {}", outcome.write_error));
  error.hint("What had been recorded until then is in the trace");
  throw error.at({options.output, {}, {}});
}

}  // namespace

CLI::App* add_record_command(CLI::App& app, int& exit_code) {
  CLI::App* const command = app.add_subcommand("record", "Record this machine's kernel memory events into a trace.");
  const auto options = std::make_shared<Options>();
  command->add_option("-o,--output", options->output, "Write the trace to FILE (default: trace.dat)")
      ->type_name("FILE");
  command
      ->add_option("-e,--event", options->events,
                   "Record EVENT, system:name with globs, instead of the slab and page events\n"
                   "Several may be given, with commas or with several -e. `kmemtrace list events` shows them")
      ->type_name("EVENT")
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("-p,--pid", options->pids, "Record only process PID, all its threads and what it forks (repeatable)")
      ->type_name("PID")
      ->take_all()
      ->allow_extra_args(false);
  command->add_option("-d,--duration", options->duration, "End after that time: 10s, 1.5s, 200ms, 5m")->type_name("T");
  command
      ->add_option("-b,--buffer", options->buffer,
                   "Ring buffer of SIZE for each CPU: 512k, 64M\nThe default is 16M, less where memory is small")
      ->type_name("SIZE");
  command
      ->add_option(
          "--clock", options->clock,
          "Use this trace clock\nThe default is the cheapest that is ordered across CPUs; `kmemtrace list clocks` "
          "tells which and why")
      ->type_name("CLOCK");
  command->add_option("--file-version", options->version, "Version of trace.dat to write: 6 or 7 (default: 7)")
      ->type_name("N")
      ->check(CLI::IsMember({6, 7}));
  command->add_flag("-F,--only-command", options->only_command, "Record only COMMAND and what it forks");
  command->add_flag("--remove-stale", options->remove_stale, "Remove instances that killed runs left, without asking");
  command->add_flag("--no-progress", options->no_progress, "No progress line");
  command->add_option("COMMAND", options->command, "Run COMMAND and record until it ends")->type_name("COMMAND");
  command->footer(kFooter);
  command->callback([options, &exit_code] {
    record_trace(*options);
    exit_code = static_cast<int>(ExitCode::good);
  });
  return command;
}

}  // namespace kmt
