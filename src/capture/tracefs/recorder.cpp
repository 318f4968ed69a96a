// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/recorder.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "capture/features/tsc_scale.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/tracefs/command.hpp"
#include "capture/tracefs/own_threads.hpp"
#include "capture/tracefs/ring_readers.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "capture/tracefs/watcher.hpp"

namespace kmt {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kProgressEvery{250};

std::string event_file(const EventName& event, const char* file) {
  return fmt::format("events/{}/{}/{}", event.system, event.name, file);
}

void size_buffers(const TracefsInstance& instance, std::uint64_t bytes) {
  try {
    instance.set("buffer_size_kb", fmt::format("{}", (bytes + 1023) / 1024));
  } catch (Error& error) {
    error.hint(fmt::format("{} a CPU may be more memory than is free: choose less with -b", humane_bytes(bytes)));
    throw;
  }
}

void choose_clock(const TracefsInstance& instance, const std::string& clock) {
  try {
    instance.set("trace_clock", clock);
  } catch (Error& error) {
    error.hint(fmt::format("This kernel has the clocks {}", trim(read_file(instance.file("trace_clock")))));
    throw;
  }
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  for (const std::string& name : names_in(fmt::format("/proc/{}/task", process))) threads.push_back(std::stoi(name));
  return threads;
}

// Restricts the instance to some processes and what they fork.
void follow_only(const TracefsInstance& instance, const std::vector<pid_t>& pids) {
  if (instance.has("options/event-fork")) instance.set("options/event-fork", "1");
  // The kernel follows tasks: all threads of a process now, and those to come by event-fork. One that is started while
  // we look is found by looking again.
  const std::string path = instance.file("set_event_pid");
  std::set<pid_t> followed;
  for (;;) {
    std::string fresh;
    for (const pid_t pid : pids)
      for (const pid_t thread : threads_of(pid))
        if (followed.insert(thread).second) fresh += fmt::format("{} ", thread);
    if (fresh.empty()) break;
    write_all(open_file(path, O_WRONLY | O_APPEND).get(), fresh, path);
  }
  if (followed.empty()) throw Error("None of the processes to record runs any more");
}

// True when the pid list had to be used.
bool exclude(const TracefsInstance& instance, const std::vector<EventName>& events, const std::vector<pid_t>& threads) {
  if (const auto filter = filter_without(threads)) {
    for (const EventName& event : events) instance.set(event_file(event, "filter"), *filter);
    return false;
  }
  instance.set("set_event_notrace_pid", fmt::format("{}", fmt::join(threads, " ")));
  return true;
}

std::string read_statistics(const TracefsInstance& instance, unsigned cpu) {
  return try_read_file(instance.file(fmt::format("per_cpu/cpu{}/stats", cpu))).value_or("");
}

CpuCounters sum_counters(const TracefsInstance& instance, const std::vector<unsigned>& cpus) {
  CpuCounters sum;
  for (const unsigned cpu : cpus) {
    const CpuCounters counters = parse_cpu_counters(read_statistics(instance, cpu));
    sum.read += counters.read;
    sum.unread += counters.unread;
    sum.lost += counters.lost;
  }
  return sum;
}

ClockScale scale_of_tsc() {
  if (const auto scale = tsc_scale()) return *scale;
  Error error("This kernel does not say how long a cycle of the time stamp counter is", ExitCode::unsupported);
  error.hint("Choose another clock with --clock");
  throw error;
}

double seconds_since(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

}  // namespace

CpuCounters parse_cpu_counters(const std::string& statistics) {
  CpuCounters counters;
  for (const std::string_view line : split(statistics, '\n')) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view digits = line.substr(colon + 2);
    std::uint64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (key == "read events") counters.read += value;
    if (key == "entries") counters.unread += value;
    if (key == "overrun" || key == "commit overrun" || key == "dropped events") counters.lost += value;
  }
  return counters;
}

RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks) {
  using namespace std::chrono_literals;
  RecordOutcome outcome;

  outcome.own_events_recorded = !knows_kernel_pids();
  if (outcome.own_events_recorded && (request.only_command || !request.pids.empty())) {
    Error error("Cannot record only some processes from inside a PID namespace: the kernel knows them by other numbers",
                ExitCode::unsupported);
    error.hint("Record the whole machine (without -p and -F), or record on the host of this container");
    throw error;
  }

  // Both fork, so they come before any thread. What is declared later ends earlier: the watcher last, and it comes
  // before the instance, so that there is no moment at which a kill would leave the instance behind.
  const Watcher watcher(own_instance_path(tracefs));
  std::optional<HeldCommand> command;
  if (!request.command.empty()) command.emplace(request.command);
  const TracefsInstance instance(tracefs);

  instance.set("tracing_on", "0");
  size_buffers(instance, request.buffer_bytes);
  choose_clock(instance, request.clock);
  if (request.only_command && command) follow_only(instance, {command->pid()});
  if (!request.pids.empty()) follow_only(instance, request.pids);

  KernelDescription& kernel = outcome.recording.kernel;
  kernel = describe_kernel(tracefs, instance.path(), request.events, request.clock);
  if (request.clock == "x86-tsc") kernel.clock_scale = scale_of_tsc();
  TaskNames tasks;
  tasks.scan_proc();
  if (hooks.described) hooks.described(kernel);

  RingReaders readers(instance.path(), request.scratch_directory, kernel.sub_buffer_bytes);
  std::vector<pid_t> own = readers.threads();
  own.push_back(::gettid());
  own.push_back(watcher.pid());
  if (!outcome.own_events_recorded) outcome.filtered_by_pid_list = exclude(instance, request.events, own);
  for (const EventName& event : request.events) instance.set(event_file(event, "enable"), "1");

  const std::vector<unsigned> cpus = readers.cpus();
  const SteadyClock::time_point start = SteadyClock::now();
  SteadyClock::time_point next_progress = start;
  readers.start();
  instance.set("tracing_on", "1");
  if (command && !hooks.interrupted()) command->release();

  for (;;) {
    if (hooks.interrupted()) {
      outcome.end = RecordEnd::interrupted;
      break;
    }
    if (command && command->poll()) {
      outcome.end = RecordEnd::command_ended;
      break;
    }
    if (readers.failed()) {
      outcome.end = RecordEnd::cannot_write;
      break;
    }
    auto pause = std::chrono::nanoseconds(command ? 10ms : 100ms);
    if (request.duration_ns) {
      const auto left = start + std::chrono::nanoseconds(*request.duration_ns) - SteadyClock::now();
      if (left <= 0ns) {
        outcome.end = RecordEnd::duration;
        break;
      }
      pause = std::min(pause, std::chrono::nanoseconds(left));
    }
    std::this_thread::sleep_for(pause);
    if (!hooks.progress || SteadyClock::now() < next_progress) continue;
    next_progress = SteadyClock::now() + kProgressEvery;
    const CpuCounters counters = sum_counters(instance, cpus);
    hooks.progress({seconds_since(start), counters.read + counters.unread, readers.bytes(), counters.lost});
  }
  instance.set("tracing_on", "0");
  outcome.seconds = seconds_since(start);

  outcome.recording.cpus = readers.finish(outcome.write_error);
  for (RawCpu& cpu : outcome.recording.cpus) {
    cpu.statistics = read_statistics(instance, cpu.cpu);
    // No line of the kernel's: a reader cannot know that these events will never come.
    if (const std::uint64_t unread = parse_cpu_counters(cpu.statistics).unread; unread > 0)
      cpu.statistics += fmt::format("not recorded: {}\n", unread);
  }
  if (command) {
    command->terminate();
    outcome.command_status = command->poll();
  }
  tasks.add_saved_cmdlines(tracefs);  // shared by all tracers, may be old: what lives now knows better
  tasks.scan_proc();
  kernel.saved_cmdlines = tasks.lines();
  if (!instance.remove()) outcome.left_instance = instance.path();
  return outcome;
}

}  // namespace kmt
