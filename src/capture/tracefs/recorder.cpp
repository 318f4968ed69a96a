// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/tracefs/recorder.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/file.hpp"
#include "capture/tracefs/describe.hpp"
#include "capture/tracefs/instance.hpp"
#include "capture/tracefs/noise_filter.hpp"
#include "capture/tracefs/task_names.hpp"
#include "capture/tracefs/watcher.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kTick = 500ms;
// Readers are woken when this much of a buffer is full: early enough to keep most of it free for bursts, late enough to
// move many pages at once.
constexpr const char* kBufferPercent = "15";

std::uint64_t ns_since(Clock::time_point start) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

std::set<std::int32_t> threads_of(std::int32_t pid) {
  std::set<std::int32_t> threads;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid), code))
    threads.insert(std::stoi(entry.path().filename()));
  return threads;
}

// The kernel follows tasks, not processes: all threads there are now, and by event-fork those to come. A thread started
// while we look is found by looking again.
void follow_processes(const Instance& instance, const std::vector<std::int32_t>& pids) {
  instance.write("options/event-fork", "1");
  std::set<std::int32_t> followed;
  for (;;) {
    std::string fresh;
    for (const std::int32_t pid : pids)
      for (const std::int32_t thread : threads_of(pid))
        if (followed.insert(thread).second) fresh += fmt::format("{} ", thread);
    if (fresh.empty()) break;
    const FileDescriptor file = open_file(instance.file("set_event_pid"), O_WRONLY | O_APPEND);
    write_all(file.get(), fresh, instance.file("set_event_pid"));
  }
  if (!followed.empty()) return;
  Error error("None of the processes runs any more");
  throw error.hint("Nothing was recorded");
}

RecordProgress read_progress(const Instance& instance, const std::vector<unsigned>& cpus, const CpuReaders& readers,
                             Clock::time_point start) {
  RecordProgress progress;
  progress.elapsed_ns = ns_since(start);
  progress.bytes = readers.bytes();
  for (const unsigned cpu : cpus) {
    const BufferStatistics numbers = read_cpu_stats(instance, cpu).numbers;
    progress.events += numbers.read + numbers.entries;
    progress.lost += lost_events(numbers);
  }
  return progress;
}

class Session {
 public:
  Session(const RecordRequest& request, SignalWatch& signals)
      : request_(request),
        signals_(signals),
        watcher_(request.tracefs + "/instances/" + own_instance_name()),
        command_(request.command.empty() ? nullptr : std::make_unique<Command>(request.command, signals)),
        instance_(request.tracefs, own_instance_name()) {}

  Recording run(const std::function<void(const RecordProgress&)>& progress) {
    configure();
    CpuReaders readers(instance_.path(), cpus_, request_.scratch_directory, recording_.kernel.page_size);
    choose_tasks(readers);
    for (const EventName& event : request_.events) instance_.enable(event);
    names_.add_running();

    const Clock::time_point start = Clock::now();
    instance_.set_tracing(true);
    if (command_) command_->release();
    recording_.reason = wait(readers, start, progress);
    instance_.set_tracing(false);
    recording_.elapsed_ns = ns_since(start);
    finish(readers);
    return std::move(recording_);
  }

 private:
  void configure() {
    instance_.write("trace_clock", request_.clock);
    instance_.set_buffer_size(request_.buffer_bytes_per_cpu);
    instance_.try_write("buffer_percent", kBufferPercent);
    cpus_ = buffer_cpus(instance_);
    modules_ = try_read_file("/proc/modules").value_or("");
    recording_.kernel = describe_kernel(request_.tracefs, instance_, request_.events, cpus_);
    if (!has_addresses(recording_.kernel.kallsyms))
      recording_.remarks.push_back(
          "/proc/kallsyms shows no addresses here, so reports cannot name call sites; as root: sysctl "
          "kernel.kptr_restrict=1, then record again");
  }

  void choose_tasks(const CpuReaders& readers) {
    std::vector<pid_t> own = readers.tasks();
    own.push_back(::gettid());
    own.push_back(watcher_.pid());
    const std::string remark = exclude_tasks(instance_, request_.events, own);
    if (!remark.empty()) recording_.remarks.push_back(remark);
    std::vector<std::int32_t> followed = request_.pids;
    if (command_ && request_.only_command) followed.push_back(command_->pid());
    if (!followed.empty()) follow_processes(instance_, followed);
  }

  // Until the recording shall end; says why.
  EndReason wait(CpuReaders& readers, Clock::time_point start,
                 const std::function<void(const RecordProgress&)>& progress) {
    const Clock::time_point end = start + std::chrono::nanoseconds(request_.duration_ns);
    Clock::time_point tick = start + kTick;
    for (;;) {
      Clock::time_point next = tick;
      if (request_.duration_ns != 0) next = std::min(next, end);
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
      std::array<pollfd, 2> events = {pollfd{signals_.fd(), POLLIN, 0}, pollfd{readers.failure_fd(), POLLIN, 0}};
      ::poll(events.data(), events.size(), static_cast<int>(std::max<std::int64_t>(0, left)));

      while (const auto signal = signals_.next()) {
        if (signal->number == SIGCHLD) continue;
        // The terminal has told the command already.
        if (command_ && !signal->from_terminal) command_->signal(signal->number);
        return EndReason::interrupted;
      }
      if ((recording_.failure = readers.failure())) return EndReason::failed;
      if (command_ && command_->poll()) return EndReason::command_ended;
      const Clock::time_point now = Clock::now();
      if (request_.duration_ns != 0 && now >= end) return EndReason::duration;
      if (now < tick) continue;
      tick = now + kTick;
      names_.add_saved(request_.tracefs);
      if (progress) progress(read_progress(instance_, cpus_, readers, start));
    }
  }

  void finish(CpuReaders& readers) {
    std::vector<CpuPages> pages = readers.finish();
    if (!recording_.failure) recording_.failure = readers.failure();
    for (CpuPages& of_cpu : pages) {
      CpuStats stats = read_cpu_stats(instance_, of_cpu.cpu);
      recording_.cpus.push_back({std::move(of_cpu), std::move(stats)});
    }
    const std::string reason = instance_.remove();
    if (!reason.empty())
      recording_.remarks.push_back(
          fmt::format("{} could not be removed ({}); events in it are off. Remove it with: rmdir {}", instance_.path(),
                      reason, instance_.path()));
    names_.add_saved(request_.tracefs);
    names_.add_running();
    recording_.kernel.saved_cmdlines = names_.text();
    // A module loaded meanwhile has call sites too.
    if (try_read_file("/proc/modules").value_or("") != modules_)
      recording_.kernel.kallsyms = try_read_file("/proc/kallsyms").value_or("");
    recording_.command = std::move(command_);
  }

  const RecordRequest& request_;
  SignalWatch& signals_;
  // In this order: the watcher is told last, when all that it would clean up is gone.
  Watcher watcher_;
  std::unique_ptr<Command> command_;
  Instance instance_;
  std::vector<unsigned> cpus_;
  std::string modules_;
  TaskNames names_;
  Recording recording_;
};

}  // namespace

Recording record(const RecordRequest& request, SignalWatch& signals,
                 const std::function<void(const RecordProgress&)>& progress) {
  Session session(request, signals);
  return session.run(progress);
}

}  // namespace kmt
