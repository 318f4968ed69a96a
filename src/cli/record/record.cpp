// SPDX-License-Identifier: GPL-2.0-or-later
// kmemtrace record
#include <array>

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/confinement/privileges.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "capture/bpf/record/recorder.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/record/boot.hpp"
#include "cli/record/messages.hpp"
#include "cli/record/oom.hpp"
#include "cli/record/output.hpp"
#include "cli/record/previous.hpp"
#include "cli/record/request.hpp"
#include "cli/record/run.hpp"
#include "cli/record/trigger.hpp"
#include "cli/support/commands.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/types_option.hpp"

namespace kmt {

namespace {

constexpr const char* kRecordFooter = R"(Examples:
  kmemtrace record                              this machine, until Ctrl+C, into trace.kmt
  kmemtrace record --duration 10s -o ten.kmt    ten seconds
  kmemtrace record -o trace.dat                 for trace-cmd and KernelShark, many times as large
  kmemtrace record -- make -j8                  this machine, while make runs
  kmemtrace record -F -- ls                     only ls and what it starts
  kmemtrace record -p 812 -p 813 --duration 5s  two tasks and what they fork
  kmemtrace record --cgroup system.slice/db.service --stacks
  kmemtrace record --stacks=user -- make        which programs and libraries make the kernel allocate
  kmemtrace record --stalls --stacks -- make    where make waits for memory
  kmemtrace record -e kmem:kmalloc,kmem:kfree -e 'sched:sched_process_*'
  kmemtrace record --filter 'kmem:kmalloc:bytes_req > 4096'
  kmemtrace record --flight 30s --trigger 'SUnreclaim+500M'
                                                keeps the last 30 s, and ends when slab memory has grown by 500M
  kmemtrace record --flight 256M --trigger failure
                                                what led to an allocation that failed
  kmemtrace record --flight 2m --trigger oom --stacks
                                                the minutes before an OOM kill, with a page about it (trace.html)
  kmemtrace record --rotate 1G --keep 10        trace.0001.kmt, trace.0002.kmt, …: the latest ten
  kmemtrace record --backend bpf                with less overhead for the traced workload
  kmemtrace record --flight --persistent        the last events survive a crash of the machine
  kmemtrace record --boot --previous -o crash.kmt
                                                after the crash, saves the events of the crashed boot
  kmemtrace record --boot                       shows how to trace a boot; after that boot, saves its trace

If the recording ends before COMMAND (--duration, Ctrl+C), COMMAND receives SIGTERM.

Without -F, the whole machine is recorded while COMMAND runs. RCU, soft interrupts and kernel threads often free the
memory that a command allocates. If only the command is recorded, this memory looks leaked.

A .kmt is written during the recording. If the recorder is killed, the file can still be read, and `kmemtrace repair`
completes it. With --flight, nothing is written until Ctrl+C, the end of COMMAND, or the trigger. SIGUSR2 writes the
kept events to a numbered file (trace.0001.kmt), and the recording continues.

kmemtrace uses a separate tracefs instance and does not affect other tracing. The instance is removed when the recording
ends. If a run was killed, the next run reports its instance. A filter in the kernel excludes the recorder's own
allocations.

Exit status: the status of COMMAND, or 128 + N if signal N ended COMMAND. Otherwise:
  0  recorded, or the recording ended before COMMAND
  2  wrong usage, COMMAND cannot be executed, or the trace cannot be written;
     with --previous, also if the buffer has no events of the previous boot;
     with --persistent, also if the buffer has events that were not collected
  3  not permitted or not supported here; with --previous, also if the machine is not prepared)";

// True if BPF programs can probably record everything that is requested. Some limits are known only when the programs
// are loaded.
bool bpf_would_do(RecordOptions options) {
  options.backend = "bpf";
  try {
    check_backend(options);
    usable_tracefs(TracefsUse::describing);
  } catch (const Error&) {
    return false;
  }
  return bpf_support().missing.empty();
}

std::string tracefs_for(const RecordOptions& options) {
  if (uses_bpf(options)) return usable_tracefs(TracefsUse::describing);
  try {
    return usable_tracefs();
  } catch (Error& error) {
    if (bpf_would_do(options))
      error.hint(
          fmt::format("Add --backend bpf, which needs only read access to tracefs; this process is allowed to load BPF "
                      "programs. Or: {}",
                      error.hint()));
    throw;
  }
}

int record_trace(const RecordOptions& options) {
  outlive_write_signals();
  // a second Ctrl+C is ignored, because it would destroy the trace
  const InterruptGuard interrupt(SecondSignal::is_ignored);
  std::optional<BootBuffer> boot;
  std::optional<PersistentInstance> previous;
  check_backend(options);
  check_persistent(options);
  if (!options.previous.empty() && !(previous = previous_events_or_plan(options, usable_tracefs())))
    return static_cast<int>(ExitCode::unsupported);
  if (options.boot && !previous && !(boot = boot_buffer_or_plan(options))) return 0;
  check_output(options.output);
  use_types(options.btf);
  if (uses_bpf(options)) say_types_of_programs();
  const std::string tracefs = tracefs_for(options);
  offer_to_remove_stale(tracefs, options.remove_stale);
  const RecordRequest request = request_of(options, tracefs);
  std::optional<Trigger> trigger;
  if (!options.trigger.empty()) trigger.emplace(options.trigger);
  RecordOutput output(options, request);
  const FileRequestGuard file_requests;

  PreviousBoot previous_boot;
  bool triggered = false;
  std::optional<OomProtection> protection;
  std::string earlier_report;
  RecordSteps steps;
  steps.ended = [&] {
    if (trigger && !triggered)
      triggered = trigger->wants_failures() ? output.saw_failed_allocation() : trigger->holds(monotonic_ns());
    return triggered || interrupt.interrupted();
  };
  steps.begins = [&] {
    give_up_capabilities(std::array<unsigned, 1>{CAP_SYS_RAWIO});  // only the start reads /proc/kcore
    if (request.command.empty() && !options.boot && ::isatty(STDERR_FILENO) == 1)
      say("Recording {} events into {}; {}Ctrl+C ends the recording\n", request.events.size(),
          printable(options.output),
          output.is_flight_recorder() && options.persistent.empty() ? "SIGUSR2 writes the kept events, " : "");
    if (trigger) trigger->start();
    if (trigger && trigger->waits_for_oom()) earlier_report = text_of_last_oom_report();
    if (output.is_flight_recorder() || (trigger && trigger->waits_for_oom())) protection.emplace();
  };
  steps.record = [&](const RecordHooks& hooks, const OpenSink& open) {
    if (previous)
      return collect_previous_boot(tracefs, *previous, likely_events(tracefs), request.scratch_directory, hooks,
                                   previous_boot);
    return boot                ? collect_boot_buffer(tracefs, *boot, request.scratch_directory, hooks)
           : uses_bpf(options) ? record_by_bpf(tracefs, request, hooks, open)
                               : record(tracefs, request, hooks);
  };
  const auto [outcome, written] = run_recording(options, output, steps);
  protection.reset();
  if (triggered) say("Triggered: {}\n", trigger->what_happened());
  print_summary(options, outcome, written, "larger buffers (-b, --max-memory) or fewer events (-e, --filter)");
  print_notes(outcome);
  if (triggered && trigger->waits_for_oom()) write_oom_files(written.path, earlier_report);
  if (previous) say_previous_boot(previous_boot);
  if (boot && outcome.end != RecordEnd::cannot_write) give_boot_buffer_back(*boot);
  if (outcome.end != RecordEnd::cannot_write) return command_exit_status(outcome);
  throw Error(fmt::format("The recording ended early: {}", outcome.write_error))
      .hint(boot ? "The trace has the part that was read. The rest is still in the buffer: run the command again with "
                   "another -o"
                 : "The trace contains the events recorded before the error")
      .at({written.path, {}, {}});
}

// Replaces a list of both kinds of stacks by the word "both".
std::string unlist_stack_kinds(std::string& text) {
  if (text == "user,kernel" || text == "kernel,user") text = "both";
  return {};
}

std::string check_file_count(const std::string& text) {
  return text.find_first_not_of("0123456789") == text.npos && text.find_first_not_of('0') != text.npos
             ? ""
             : "must be a number of files, 1 or more";
}

// Adds the options that select events and tasks.
void add_selection_options(Command& command, RecordOptions& options) {
  command.option("-e,--event", &options.events, "EVENT",
                 "Record EVENT instead of all kernel memory events\nEVENT is SYSTEM:NAME and may contain globs. "
                 "Separate several events with commas, or repeat -e. `kmemtrace list events` lists all events.",
                 {.repeats = true});
  command.flag("--stacks{kernel}", &options.stacks,
               "Record the kernel stack with every event; --stacks=user records the stack of the program that made the "
               "system call; --stacks=both records both\nProgram stacks have at most 8 frames (60 with --backend bpf). "
               "All frames except the first need frame pointers.",
               {.words = {"kernel", "user", "both"}, .check = unlist_stack_kinds});
  command.flag(
      "--syscalls", &options.syscalls,
      "Record the start and end of system calls, and the end of tasks, so that `report --by syscall` needs no stacks");
  command.flag(
      "--stalls", &options.stalls,
      "Record how long tasks wait for memory in reclaim and compaction, for `pages --stalls`\nThe events occur "
      "only if memory is short. If a machine reclaims memory all the time, they can cost more than 1 % of its time.");
  command.option("--filter", &options.filters, "FILTER",
                 "Record only events that match EXPRESSION, evaluated in the kernel (repeatable)\nFILTER is "
                 "EVENT:EXPRESSION, such as 'kmem:kmalloc:bytes_req > 4096'.",
                 {.repeats = true});
  command.option("-p,--pid", &options.pids, "PID",
                 "Record only process PID with all its threads and future child processes (repeatable)",
                 {.repeats = true});
  command.option("--cgroup", &options.cgroup, "CGROUP", "Record only tasks in CGROUP and in cgroups below it");
  command.flag(
      "--no-probes", &options.no_probes,
      "Do not probe kernel paths without a tracepoint\nBy default, kprobe events record what kmem_cache_free_bulk(), "
      "kfree_rcu() and others free, and what bulk functions allocate (only with --backend tracefs).");
  add_types_option(command, options.btf);
  command.flag("-F,--only-command", &options.only_command, "Record only COMMAND and its child processes");
}

}  // namespace

Command record_command() {
  const auto options = std::make_shared<RecordOptions>();
  Command command{"record", "Record this machine's kernel memory events into a trace.", kRecordFooter,
                  [options](const Command& given) {
                    options->version_given = given.has("--file-version");
                    options->flight_given = given.has("--flight");
                    return record_trace(*options);
                  }};
  command.option("-o,--output", &options->output, "FILE",
                 "Write the trace to FILE (default: trace.kmt), in the format trace.dat if FILE ends in .dat\nAn "
                 "existing trace with this name is renamed to FILE.old.");
  command.option("--backend", &options->backend, "BACKEND",
                 "Record with tracefs (default), or with bpf (Linux 5.15 or later), which has less overhead for the "
                 "traced workload",
                 {.words = {"tracefs", "bpf"}});
  add_selection_options(command, *options);
  command.option("-d,--duration", &options->duration, "T", "Stop recording after time T: 10s, 1.5s, 200ms, 5m");
  command.option("--trigger", &options->trigger, "COND",
                 "Stop recording when COND is true: oom (the OOM killer kills a process), failure (a slab or page "
                 "allocation fails), NAME>N, NAME<N, NAME+N (NAME has grown by N), or NAME+N/T (within time T), where "
                 "NAME is a name in /proc/meminfo or /proc/vmstat\nWith oom, also writes a page about the kill, a "
                 "snapshot of the memory at the kill and a profile of the allocations.");
  command.option(
      "--flight", &options->flight, "SIZE|T",
      "Keep only the latest events in memory: up to SIZE, or those of the last T; write them at the end or on "
      "SIGUSR2\nThe value is optional only with --persistent.",
      {.may_lack_value = true});
  command.flag("--persistent{*}", &options->persistent,
               "With --flight: record into a ring buffer that survives a crash (Linux 6.12 or later)\nThe kernel makes "
               "the buffer at boot; `kmemtrace list` prints the kernel parameters. NAME is the tracing instance. After "
               "a crash, `record --boot --previous` collects the events.",
               {.flag_value = "NAME"});
  command.option("--rotate", &options->rotate, "SIZE|T", "Start a new file after SIZE or T");
  command.option("--keep", &options->keep, "N", "With --rotate: keep only the latest N files",
                 {.check = check_file_count});
  command.option("--sample-interval", &options->sample_interval, "T",
                 "Sample meminfo, vmstat, slabinfo and buddyinfo every T (default: only at start and end)");
  command.flag("--page-owner", &options->page_owner,
               "Also save page_owner at start and end (slow on a large machine)\nallocinfo and alloc_traces are always "
               "saved. `kmemtrace snapshot` and `diff` show all of them.");
  command.option("-b,--buffer", &options->buffer, "SIZE",
                 "Use a ring buffer of SIZE for each CPU: 512k, 64M\nThe default is measured at the start: enough for "
                 "one second of events, and at least 32M if enough memory is available.");
  command.option("--max-memory", &options->max_memory, "SIZE",
                 "Limit the total size of all ring buffers, and the memory of --flight T, to SIZE\nThe default is a "
                 "sixteenth of the available memory.");
  command.option("--clock", &options->clock, "CLOCK",
                 "Use the trace clock CLOCK\nThe default is the clock with the least overhead that is ordered across "
                 "CPUs. `kmemtrace "
                 "list clocks` shows this clock and the reason.");
  command.option("--file-version", &options->version, "N", "Write trace.dat version N: 6 or 7 (default: 7)",
                 {.words = {"6", "7"}});
  command.flag("--boot", &options->boot,
               "Collect the boot-time trace; if boot tracing was off, print the kernel parameters that enable it\n-e, "
               "-b, --max-memory, --clock and --stacks affect these parameters.");
  command.flag("--previous{*}", &options->previous,
               "With --boot: collect the events that `record --flight --persistent` recorded before a crash",
               {.flag_value = "NAME"});
  command.flag("--remove-stale", &options->remove_stale,
               "Before recording, remove trace instances of killed runs without asking");
  command.flag("--no-progress", &options->no_progress, "Show no progress line");
  command.argument("COMMAND", &options->command, "Run COMMAND and record until it ends");
  return command;
}

}  // namespace kmt
