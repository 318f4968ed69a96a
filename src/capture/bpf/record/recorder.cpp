// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/ahead_of_others.hpp"
#include "capture/bpf/kernel_btf.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/record/readers.hpp"
#include "capture/features/pid_namespace.hpp"
#include "capture/session/command.hpp"
#include "capture/session/record_loop.hpp"
#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/sideband/user_memory.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/calls/refused_functions.hpp"

namespace kmt {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr const char* kClock = "mono";  // bpf_ktime_get_ns()

std::uint64_t ring_bytes_of_cpu(const RecordRequest& request, std::size_t cpus) {
  if (request.buffer_bytes) return *request.buffer_bytes;
  return std::min(request.preferred_buffer_bytes, request.most_buffer_bytes / cpus);
}

// If calls are recorded, the limit of a CPU's rings is divided by 2: one half is for events, one for calls.
constexpr std::uint64_t kPartForCalls = 2;

// Returns the kernel's event descriptions, with the field that the programs add.
KernelDescription describe(const std::string& tracefs, const RecordRequest& request, const RecordPrograms& programs) {
  KernelDescription kernel = describe_kernel(tracefs, tracefs, request.events, kClock);
  // the descriptions of the tracer's own events come first
  const std::size_t others = kernel.formats.size() - request.events.size();
  for (std::size_t i = 0; i < request.events.size(); ++i)
    kernel.formats[others + i].text = programs.description_of(request.events[i]);
  if (!request.calls.functions.empty())
    if (auto gfp_flags = describe_gfp_flags(tracefs)) kernel.formats.push_back(std::move(*gfp_flags));
  return kernel;
}

// Returns text in the format of the kernel's per_cpu/cpuN/stats, plus the number of events that were lost in full
// rings.
std::string statistics_of(const RecordReaders::Counts& counts) {
  return fmt::format(
      "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\ndropped events: 0\nfull rings: {}\nread events: {}\n",
      counts.lost, counts.records);
}

// Learns the names of tasks by scanning /proc repeatedly. Events alone are not enough: an event with a name may be
// lost, or overwritten before the file is written. The tracer's cache of names is not enough either: it misses tasks
// that only BPF programs see, and may have the name of an earlier task with the same ID.
class TaskLooks {
 public:
  explicit TaskLooks(Tasks& tasks) : tasks_(tasks) {}

  void look() {
    const SteadyClock::time_point begin = SteadyClock::now();
    tasks_.scan_proc();
    const SteadyClock::time_point end = SteadyClock::now();
    due_ = end + std::max<SteadyClock::duration>(kSoonest, kMostOfTime * (end - begin));
  }
  void look_if_due() {
    if (SteadyClock::now() >= due_) look();
  }

 private:
  static constexpr std::chrono::seconds kSoonest{1};
  static constexpr int kMostOfTime = 200;  // scans use at most 1/200 of the time

  Tasks& tasks_;
  SteadyClock::time_point due_;
};

}  // namespace

RecordOutcome record_by_bpf(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks,
                            const OpenSink& open) {
  RecordOutcome outcome;
  const bool some_tasks = request.only_command || !request.pids.empty();
  outcome.own_events_recorded = !knows_kernel_pids();
  if (outcome.own_events_recorded && some_tasks)
    throw Error("Cannot record only some processes from inside a PID namespace: the kernel knows them by other numbers",
                ExitCode::unsupported)
        .hint("Record the whole machine (without -p and -F), or record on the host of this container");
  std::optional<HeldCommand> command;
  if (!request.command.empty()) command.emplace(request.command);
  const std::vector<unsigned> cpus = ring_buffer_cpus(tracefs);

  ProgramsRequest wanted;
  wanted.events = request.events;
  wanted.selection = {request.pids, request.cgroup};
  if (request.only_command && command) wanted.selection.processes.push_back(command->pid());
  wanted.stacks = request.stacks;
  wanted.user_stacks = request.user_stacks;
  wanted.without_own_events = !outcome.own_events_recorded;
  wanted.cpus = cpus.back() + 1;
  wanted.ring_bytes_of_cpu = ring_bytes_of_cpu(request, cpus.size());
  const bool wants_calls = !request.calls.functions.empty();
  wanted.nested =
      request.stacks || request.user_stacks || wants_calls;  // if an event is lost, the calls around it are uncertain
  if (wants_calls) wanted.ring_bytes_of_cpu /= kPartForCalls;
  require_bpf();
  std::shared_ptr<btf> types;  // keeps the types loaded while several objects need them
  if (wants_calls) types = kernel_btf();
  RecordPrograms programs(tracefs, wanted);
  outcome.cost.ring_buffer_bytes = programs.ring_bytes();

  KernelDescription& kernel = outcome.recording.kernel;
  kernel = describe(tracefs, request, programs);
  std::optional<CallRecorder> calls;
  if (wants_calls) {
    calls.emplace(
        CallRecorder{CallPrograms(request.calls, wanted, programs.shared(), kernel.kallsyms, hooks.interrupted),
                     CallLayout(request.calls.functions, kernel.formats)});
    outcome.cost.ring_buffer_bytes += calls->programs.ring_bytes();
    outcome.call_backend = calls->programs.backend();
    outcome.call_backend_reason = calls->programs.reason();
    for (FormatText& format : calls->layout.formats()) kernel.formats.push_back(std::move(format));
    kernel.call_types = request.calls.types;
    if (const auto& refused = calls->programs.refused(); !refused.empty())
      kernel.notes["refused_functions"] = refused_functions_text(refused);
    types.reset();
  }
  Tasks tasks;
  tasks.scan_proc();
  tasks.describe(kernel);
  note_processes(kernel.notes);
  KernelChanges changes(monotonic_ns, kernel.kallsyms);
  std::optional<StackRecords> stacks;
  const auto format_of = [&](const char* name) {
    return read_file(fmt::format("{}/events/ftrace/{}/format", tracefs, name));
  };
  if (request.stacks || request.user_stacks) {
    stacks.emplace(StackRecords{{}, {}, TracingFrames(kernel.kallsyms)});
    if (request.stacks) stacks->kernel = stack_layout_of(format_of("kernel_stack"));
    if (request.user_stacks) stacks->user = user_stack_layout_of(format_of("user_stack"));
  }
  std::optional<UserMemoryWatch> user_memory;
  if (request.user_stacks) {
    for (FormatText& format : kernel.formats)
      if (format.text.starts_with("name: user_stack\n")) format.text = longer_user_stack(format.text);
    user_memory.emplace(cpus, kClock, ClockScale{});
    changes.tell_of_cpus([&](const std::vector<CpuChange>& cpus_now, std::uint64_t since_ticks) {
      user_memory->cpus_changed(cpus_now, since_ticks);
    });
  }
  RecordingSink* const sink = open(kernel, cpus);
  RecordReaders readers(programs, calls ? &*calls : nullptr, cpus, std::move(stacks), *sink);

  MissedLog missed;  // starts with the counts at begin(): calls may be missed before that
  // Missed memory events are counted separately. They interrupted their own program, so they do not concern the calls
  // of tasks.
  std::uint64_t missed_memory = 0;
  const auto note_missed_calls = [&] {
    const std::uint64_t asked_ns = monotonic_ns();
    const MissedCounts counts = calls->programs.missed();
    missed.note(asked_ns, monotonic_ns(), counts);
  };
  const auto count_missed = [&] {
    if (calls) note_missed_calls();
    missed_memory = std::max(missed_memory, programs.missed());
  };
  const auto take_sample = [&](bool at_edge) {
    if (!hooks.sampled) return;
    StateSample sample = sample_memory_state();
    add_recorder(sample, {.ring_buffers = user_memory ? user_memory->ring_bytes() : 0,
                          .bpf_maps = outcome.cost.ring_buffer_bytes});
    sample.ticks = monotonic_ns();
    if (at_edge && hooks.completed) hooks.completed(sample);
    hooks.sampled(sample);
  };
  const auto statistics = [&](std::size_t index) { return statistics_of(readers.counts(index)); };
  const std::string own_tasks = outcome.own_events_recorded ? "" : list_own_tasks();
  std::map<std::string, std::string> begun_meanwhile;  // notes
  const auto describe_later = [&](std::map<std::string, std::string>& notes) {
    notes = changes.notes();
    notes.insert(begun_meanwhile.begin(), begun_meanwhile.end());
    notes["tasks_later"] = describe_processes();
    if (!own_tasks.empty()) notes["recorder_tasks"] = own_tasks;
  };
  const auto recording_now = [&] {
    tasks.scan_proc();
    RawRecording now;
    now.kernel.cpu_nodes = kernel.cpu_nodes;
    tasks.describe(now.kernel);
    describe_later(now.kernel.late_notes);
    if (user_memory) now.kernel.user_memory = user_memory->memory();
    for (std::size_t i = 0; i < cpus.size(); ++i) now.cpus.push_back({cpus[i], {}, 0, statistics(i)});
    if (missed_memory + missed.total() > 0)
      now.more_statistics.push_back(lost_somewhere_text(missed_memory + missed.total()));
    if (missed.total() > 0) now.kernel.late_notes["missed"] = missed.text();
    return now;
  };

  const AheadOfOthers ahead;  // from here on, no process is forked: it would inherit the priority
  programs.attach();
  const SteadyClock::time_point start = SteadyClock::now();
  take_sample(true);
  const std::uint64_t began_ns = monotonic_ns();
  programs.begin();
  if (calls) calls->programs.begin();
  missed.begin(began_ns, calls ? calls->programs.missed() : MissedCounts{});
  if (hooks.started) hooks.started();
  // Tasks that started after the first scan have no event with their name.
  TaskLooks looks(tasks);
  looks.look();
  note_more_processes(kernel.notes, begun_meanwhile);
  count_missed();  // earlier missed events do not concern the command
  if (command && !hooks.interrupted()) command->release();
  LoopHooks loop;
  loop.wait = [&changes](std::chrono::nanoseconds time) { changes.wait(time); };
  loop.failed = [&readers] { return readers.failed(); };
  if (hooks.sampled) loop.sample = [&] { take_sample(false); };
  if (calls) loop.look = note_missed_calls;
  loop.progress = [&] {
    count_missed();
    looks.look_if_due();
    if (user_memory) user_memory->give_news(hooks.mapped);
    RecordProgress progress;
    progress.seconds = seconds_since(start);
    progress.lost = missed_memory + missed.total();
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const RecordReaders::Counts counts = readers.counts(i);
      progress.events += counts.records;
      progress.bytes += counts.bytes;
      progress.lost += counts.lost;
    }
    progress.fullest_buffer = readers.fullest();
    if (hooks.progress) hooks.progress(progress, recording_now);
  };
  outcome.end = record_until_end(request, hooks.interrupted, command ? &*command : nullptr, loop);
  changes.look();
  if (calls) calls->programs.end();
  programs.end();
  outcome.seconds = seconds_since(start);
  count_missed();  // later events are not recorded
  programs.detach();
  take_sample(true);

  readers.finish(outcome.write_error);
  outcome.cost.fullest_buffer = readers.fullest();
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    RawCpu& cpu = outcome.recording.cpus.emplace_back(RawCpu{cpus[i], {}, readers.counts(i).bytes, statistics(i)});
    if (const std::uint64_t left = readers.not_taken(i); left > 0)
      cpu.statistics += fmt::format("not recorded: {}\n", left);
  }
  if (command) {
    command->terminate();
    outcome.command_status = command->poll();
  }
  // The kernel does not report on which CPU events were missed.
  outcome.missed_events = missed_memory + missed.total();
  if (outcome.missed_events > 0)
    outcome.recording.more_statistics.push_back(lost_somewhere_text(outcome.missed_events));
  outcome.missed_by_function = missed.by_function();
  if (missed_memory > 0) outcome.missed_by_function[""] += missed_memory;
  outcome.not_followed_processes = programs.not_followed();
  tasks.scan_proc();
  tasks.describe(kernel);
  describe_later(kernel.late_notes);
  if (missed.total() > 0) kernel.late_notes["missed"] = missed.text();
  if (user_memory) tell_user_memory(*user_memory, kernel, outcome);
  add_own_cost(outcome.cost);
  return outcome;
}

}  // namespace kmt
