// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/recorder.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/ahead_of_others.hpp"
#include "capture/features/pid_namespace.hpp"
#include "capture/features/tsc_scale.hpp"
#include "capture/ftrace/buffer_size.hpp"
#include "capture/ftrace/call_probes.hpp"
#include "capture/ftrace/event_filters.hpp"
#include "capture/ftrace/function_graph.hpp"
#include "capture/ftrace/process_filter.hpp"
#include "capture/ftrace/ring_readers.hpp"
#include "capture/ftrace/watcher.hpp"
#include "capture/session/command.hpp"
#include "capture/session/record_loop.hpp"
#include "capture/sideband/cgroup_moves.hpp"
#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/sideband/user_memory.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

using SteadyClock = std::chrono::steady_clock;

void choose_clock(const TracefsInstance& instance, const std::string& clock) {
  try {
    instance.set("trace_clock", clock);
  } catch (Error& error) {
    error.hint(fmt::format("This kernel has the clocks {}", trim(read_file(instance.file("trace_clock")))));
    throw;
  }
}

// Returns the sum for all CPUs, and raises `fullest` to the level of the fullest buffer.
BufferCounters sum_counters(const TracefsInstance& instance, const std::vector<unsigned>& cpus, std::uint64_t size,
                            double& fullest) {
  BufferCounters sum;
  for (const unsigned cpu : cpus) {
    const BufferCounters counters = parse_buffer_counters(read_buffer_statistics(instance.path(), cpu));
    sum += counters;
    // The sum includes the page that is being read, which is outside the buffer.
    fullest = std::clamp(static_cast<double>(counters.unread_bytes) / static_cast<double>(size), fullest, 1.0);
  }
  return sum;
}

}  // namespace

RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks) {
  RecordOutcome outcome;

  const bool some_tasks = request.only_command || !request.pids.empty() || !request.cgroup.empty();
  outcome.own_events_recorded = !knows_kernel_pids();
  if (outcome.own_events_recorded && some_tasks)
    throw Error("Cannot record only some processes from inside a PID namespace: the kernel knows them by other numbers",
                ExitCode::unsupported)
        .hint("Record the whole machine (without -p, -F and --cgroup), or record on the host of this container");

  // The watcher must exist before any thread, because it forks. It must also exist before the instance, so that it is
  // destroyed later: if the recorder is killed at any time, the watcher can remove the instance.
  const Watcher watcher(own_instance_path(tracefs));
  std::optional<HeldCommand> command;
  if (!request.command.empty()) command.emplace(request.command);
  const TracefsInstance instance(tracefs);
  const std::vector<unsigned> cpus = ring_buffer_cpus(instance.path());

  instance.set("tracing_on", "0");
  choose_clock(instance, request.clock);
  // A new instance inherits the top-level buffer's options, which another user may have changed.
  if (instance.has("options/overwrite")) instance.set("options/overwrite", "1");
  instance.set("options/stacktrace", request.stacks ? "1" : "0");
  if (request.user_stacks && !instance.has("options/userstacktrace"))
    throw Error("This kernel records no user stacks", ExitCode::unsupported)
        .hint("It is built without CONFIG_USER_STACKTRACE_SUPPORT: --backend bpf may have them");
  if (instance.has("options/userstacktrace")) instance.set("options/userstacktrace", request.user_stacks ? "1" : "0");
  size_buffers(instance,
               request.buffer_bytes
                   ? *request.buffer_bytes
                   : choose_buffer_size(measure_rate(instance, request.events), request.preferred_buffer_bytes,
                                        request.most_buffer_bytes, static_cast<unsigned>(cpus.size())));
  const std::uint64_t size = std::max<std::uint64_t>(read_buffer_size(instance.path(), cpus.front()), 1);
  outcome.cost.ring_buffer_bytes = size * cpus.size();
  std::vector<pid_t> pids = request.pids;
  if (request.only_command && command) pids.push_back(command->pid());
  std::optional<ProcessFilter> processes;
  const bool wants_calls = !request.calls.functions.empty();
  const bool by_probes = wants_calls && request.calls.tracer == CallTracer::kprobe_events;
  if (some_tasks) processes.emplace(instance, pids, request.cgroup, watcher.pid(), wants_calls && !by_probes);

  KernelDescription& kernel = outcome.recording.kernel;
  kernel = describe_kernel(tracefs, instance.path(), request.events, request.clock);
  kernel.clock_scale = scale_of_clock(request.clock);
  if (wants_calls)
    if (auto gfp_flags = describe_gfp_flags(tracefs)) kernel.formats.push_back(std::move(*gfp_flags));
  std::optional<CallProbes> probes;
  std::optional<FunctionGraph> graph;
  if (by_probes)
    outcome.call_backend = probes.emplace(tracefs, instance, request.calls, kernel).name();
  else if (wants_calls)
    outcome.call_backend = graph.emplace(tracefs, instance, request.calls, kernel).name();
  Tasks tasks;
  tasks.scan_proc();
  tasks.describe(kernel);
  note_processes(kernel.notes);
  const auto now_ticks = [&] {
    return parse_buffer_counters(read_buffer_statistics(instance.path(), cpus.front())).now_ticks;
  };
  KernelChanges changes(now_ticks, kernel.kallsyms);
  std::optional<CgroupMoves> moves;
  if (some_tasks) moves.emplace(tracefs, cpus, request.clock, kernel.clock_scale);
  std::optional<UserMemoryWatch> user_memory;
  if (request.user_stacks) user_memory.emplace(cpus, request.clock, kernel.clock_scale);
  changes.tell_of_cpus([&](const std::vector<CpuChange>& cpus_now, std::uint64_t since_ticks) {
    if (moves) moves->cpus_changed(cpus_now);
    if (user_memory) user_memory->cpus_changed(cpus_now, since_ticks);
  });
  PageSink* const sink = hooks.described ? hooks.described(kernel, cpus) : nullptr;

  RingReaders readers(instance.path(), kernel.sub_buffer_bytes, request.scratch_directory, sink);
  std::vector<pid_t> own;
  if (!outcome.own_events_recorded) {
    own = readers.threads();
    own.push_back(::gettid());
    own.push_back(watcher.pid());
    if (command) own.push_back(command->thread());
    if (user_memory && user_memory->thread() != 0) own.push_back(user_memory->thread());
  }
  outcome.filtered_by_pid_list = set_event_filters(instance, request.events, request.filters, own);
  for (const EventName& event : request.events)
    instance.set(fmt::format("events/{}/{}/enable", event.system, event.name), "1");
  if (graph) graph->leave_out(own);
  if (probes) probes->enable(own);

  MissedLog missed;
  const auto note_missed = [&] {
    const std::uint64_t asked_ns = kernel.clock_scale.to_ns(now_ticks());
    const std::optional<MissedCounts> counts = probes ? probes->missed() : MissedCounts{};
    if (counts) missed.note(asked_ns, kernel.clock_scale.to_ns(now_ticks()), *counts);
    return counts.has_value();
  };
  const auto take_sample = [&](bool at_edge) {
    if (!hooks.sampled) return;
    StateSample sample = sample_memory_state();
    add_recorder(sample,
                 {.ring_buffers = outcome.cost.ring_buffer_bytes + (user_memory ? user_memory->ring_bytes() : 0) +
                                  (moves ? moves->ring_bytes() : 0)});
    sample.ticks = now_ticks();
    if (at_edge && hooks.completed) hooks.completed(sample);
    hooks.sampled(sample);
  };
  std::map<std::string, std::string> begun_meanwhile;  // notes
  const auto describe_later = [&](std::map<std::string, std::string>& notes) {
    notes = changes.notes();
    notes.insert(begun_meanwhile.begin(), begun_meanwhile.end());
    notes["tasks_later"] = describe_processes();
    if (moves) {
      moves->poll();
      outcome.lost_cgroup_moves = moves->lost_text();
      if (!moves->text().empty()) notes["cgroup_moves"] = moves->text();
      if (!outcome.lost_cgroup_moves.empty()) notes["lost_cgroup_moves"] = outcome.lost_cgroup_moves;
    }
    if (!own.empty()) notes["recorder_tasks"] = fmt::format("{}", fmt::join(own, " "));
  };
  const auto recording_now = [&] {
    tasks.scan_proc();
    RawRecording now;
    now.kernel.cpu_nodes = kernel.cpu_nodes;
    tasks.describe(now.kernel);
    describe_later(now.kernel.late_notes);
    if (user_memory) now.kernel.user_memory = user_memory->memory();
    for (const unsigned cpu : cpus) now.cpus.push_back({cpu, {}, 0, read_buffer_statistics(instance.path(), cpu)});
    return now;
  };

  const AheadOfOthers ahead;  // from here on, no process is forked: it would inherit the priority
  const SteadyClock::time_point start = SteadyClock::now();
  readers.start();
  take_sample(true);
  if (probes) missed.begin(kernel.clock_scale.to_ns(now_ticks()), probes->missed().value_or(MissedCounts{}));
  instance.set("tracing_on", "1");
  note_more_processes(kernel.notes, begun_meanwhile);
  if (hooks.started) hooks.started();
  if (probes) note_missed();  // earlier missed calls do not concern the command
  if (command && !hooks.interrupted()) command->release();
  LoopHooks loop;
  loop.wait = [&changes](std::chrono::nanoseconds time) { changes.wait(time); };
  loop.failed = [&readers] { return readers.failed(); };
  if (hooks.sampled) loop.sample = [&] { take_sample(false); };
  if (probes) loop.look = note_missed;
  loop.progress = [&] {
    if (processes) processes->update();
    if (moves) moves->poll();
    if (user_memory) user_memory->give_news(hooks.mapped);
    const BufferCounters counters = sum_counters(instance, cpus, size, outcome.cost.fullest_buffer);
    if (hooks.progress)
      hooks.progress({seconds_since(start), counters.read + counters.unread, readers.bytes(), counters.lost,
                      outcome.cost.fullest_buffer},
                     recording_now);
  };
  outcome.end = record_until_end(request, hooks.interrupted, command ? &*command : nullptr, loop);
  changes.look();
  instance.set("tracing_on", "0");
  outcome.seconds = seconds_since(start);
  outcome.missed_calls_are_known = note_missed();
  outcome.missed_by_function = missed.by_function();
  sum_counters(instance, cpus, size, outcome.cost.fullest_buffer);
  take_sample(true);

  outcome.recording.cpus = readers.finish(outcome.write_error);
  for (RawCpu& cpu : outcome.recording.cpus) {
    cpu.statistics = read_buffer_statistics(instance.path(), cpu.cpu);
    // This line is kmemtrace's own. Without it, a reader cannot know that these events are lost.
    if (const std::uint64_t unread = parse_buffer_counters(cpu.statistics).unread; unread > 0)
      cpu.statistics += fmt::format("not recorded: {}\n", unread);
  }
  if (command) {
    command->terminate();
    outcome.command_status = command->poll();
  }
  tasks.add_saved_cmdlines(tracefs);  // all tracers share this cache and it may be old, so /proc takes precedence
  tasks.scan_proc();
  tasks.describe(kernel);
  describe_later(kernel.late_notes);
  if (user_memory) tell_user_memory(*user_memory, kernel, outcome);
  if (missed.total() > 0) {
    outcome.missed_events = missed.total();
    outcome.recording.more_statistics.push_back(lost_somewhere_text(missed.total()));
    kernel.late_notes["missed"] = missed.text();
  }
  graph.reset();
  if (!instance.remove()) outcome.left_instance = instance.path();
  add_own_cost(outcome.cost);
  return outcome;
}

}  // namespace kmt
