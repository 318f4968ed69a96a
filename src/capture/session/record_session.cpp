// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/session/record_session.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "capture/background.hpp"
#include "capture/features/pid_namespace.hpp"
#include "capture/high_priority_scope.hpp"
#include "capture/sideband/cgroup_moves.hpp"
#include "capture/sideband/kernel_changes.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/sideband/user_memory.hpp"
#include "trace/tasks/pod_names.hpp"

namespace kmt {

namespace {

using SteadyClock = std::chrono::steady_clock;
using Notes = std::map<std::string, std::string>;

constexpr std::chrono::milliseconds kProgressEvery{250};
constexpr std::chrono::milliseconds kPause{100};
// Pause between checks if a command is traced, or if missed calls are counted.
constexpr std::chrono::milliseconds kShortPause{10};
constexpr int kMissedPart = 100;  // counting missed calls uses at most 1/100 of the time

// Learns the names of tasks by reading /proc repeatedly. Events alone do not suffice, because an event with a name may
// be lost. Used if the kernel's saved_cmdlines does not have the tasks of the recording.
class TaskNames {
 public:
  explicit TaskNames(Tasks& tasks) : tasks_(tasks) {}

  void read() {
    const SteadyClock::time_point begin = SteadyClock::now();
    tasks_.scan_proc();
    const SteadyClock::time_point end = SteadyClock::now();
    due_ = end + std::max<SteadyClock::duration>(kSoonest, kMostOfTime * (end - begin));
  }
  void read_if_due() {
    if (SteadyClock::now() >= due_) read();
  }

 private:
  static constexpr std::chrono::seconds kSoonest{1};
  static constexpr int kMostOfTime = 200;  // scans use at most 1/200 of the time

  Tasks& tasks_;
  SteadyClock::time_point due_;
};

class RecordSession {
 public:
  RecordSession(RecordBackend& backend, const std::string& tracefs, const RecordRequest& request,
                const RecordHooks& hooks)
      : backend_(backend), traits_(backend.traits()), tracefs_(tracefs), request_(request), hooks_(hooks) {}

  RecordOutcome run();

 private:
  void refuse_unknown_tasks();
  void prepare();
  void watch_mappings_and_cgroups();
  void open();
  void start();
  RecordEnd wait_until_end();
  void update();
  void stop();
  void finish();
  void add_user_memory();
  void begin_first_sample();
  StateSample read_sample(bool at_edge) const;
  void pass_on(StateSample sample) const;
  void take_sample(bool at_edge) const;
  bool count_missed();
  void add_late_notes(Notes& notes);
  RawRecording recording_now();
  std::uint64_t now_ns() const { return outcome_.recording.kernel.clock_scale.to_ns(backend_.now_ticks()); }
  std::uint64_t missed() const { return missed_events_ + missed_calls_.total(); }

  RecordBackend& backend_;
  const RecordBackend::Traits traits_;
  const std::string& tracefs_;
  const RecordRequest& request_;
  const RecordHooks& hooks_;
  RecordOutcome outcome_;
  std::optional<HeldCommand> command_;
  Tasks tasks_;
  std::optional<TaskNames> names_;
  std::optional<KernelChanges> changes_;
  std::optional<CgroupMoves> moves_;
  std::optional<UserMemoryWatch> user_memory_;
  std::vector<pid_t> excluded_;  // threads of the recorder
  Notes begun_meanwhile_;
  MissedLog missed_calls_;
  // Missed memory events are counted separately. Such an event interrupted the program for the same event, so it does
  // not make the calls of tasks uncertain.
  std::uint64_t missed_events_ = 0;
  SteadyClock::time_point start_;
  std::optional<Background<StateSample>> first_sample_;
};

RecordOutcome RecordSession::run() {
  refuse_unknown_tasks();
  prepare();
  open();
  const HighPriorityScope high_priority;  // no process is forked after this line, because it would inherit the priority
  start();
  outcome_.end = wait_until_end();
  stop();
  finish();
  return std::move(outcome_);
}

void RecordSession::refuse_unknown_tasks() {
  outcome_.own_events_recorded = !knows_kernel_pids();
  const bool by_id =
      request_.only_command || !request_.pids.empty() || (!request_.cgroup.empty() && traits_.selects_cgroups_by_task);
  if (outcome_.own_events_recorded && by_id)
    throw Error(
        "Cannot record only some processes from inside a PID namespace, because the kernel uses other process IDs",
        ExitCode::unsupported)
        .hint(fmt::format("Record the whole machine (without {}), or record on the host of this container",
                          traits_.selects_cgroups_by_task ? "-p, -F and --cgroup" : "-p and -F"));
}

void RecordSession::prepare() {
  if (!request_.command.empty()) command_.emplace(request_.command);
  Background<Notes> processes("a thread that reads the tasks in /proc", [this] {
    tasks_.scan_proc();
    Notes notes;
    note_processes(notes);
    return notes;
  });
  backend_.prepare(command_ ? &*command_ : nullptr, outcome_);
  KernelDescription& kernel = outcome_.recording.kernel;
  kernel.notes.merge(processes.get());
  tasks_.describe(kernel);
  changes_.emplace([this] { return backend_.now_ticks(); }, kernel.kallsyms);
  watch_mappings_and_cgroups();
}

void RecordSession::watch_mappings_and_cgroups() {
  const ClockScale& scale = outcome_.recording.kernel.clock_scale;
  if (selects_tasks(request_) && traits_.selects_cgroups_by_task)
    moves_.emplace(tracefs_, backend_.cpus(), traits_.clock, scale);
  if (request_.user_stacks) user_memory_.emplace(backend_.cpus(), traits_.clock, scale);
  changes_->on_cpu_changes([this](const std::vector<CpuChange>& cpus, std::uint64_t since_ticks) {
    if (moves_) moves_->cpus_changed(cpus);
    if (user_memory_) user_memory_->cpus_changed(cpus, since_ticks);
  });
}

void RecordSession::open() {
  begin_first_sample();
  std::vector<pid_t> own;
  if (!outcome_.own_events_recorded) {
    own.push_back(::gettid());
    if (command_) own.push_back(command_->thread());
    if (user_memory_ && user_memory_->thread() != 0) own.push_back(user_memory_->thread());
  }
  excluded_ = backend_.open(std::move(own), outcome_);
}

void RecordSession::start() {
  backend_.attach();
  start_ = SteadyClock::now();
  if (first_sample_) pass_on(first_sample_->get());
  const std::uint64_t began_ns = now_ns();
  backend_.start();
  missed_calls_.begin(began_ns, backend_.missed_calls().value_or(MissedCounts{}));
  if (hooks_.started) hooks_.started();
  // reads names again, because other processes may have started after prepare()
  if (!traits_.saves_task_names) names_.emplace(tasks_).read();
  note_more_processes(outcome_.recording.kernel.notes, begun_meanwhile_);
  // ends the current interval, because events that were missed before the command starts do not concern the command
  count_missed();
  if (command_ && !hooks_.interrupted()) command_->release();
}

RecordEnd RecordSession::wait_until_end() {
  using namespace std::chrono_literals;
  const SteadyClock::time_point start = SteadyClock::now();
  SteadyClock::time_point next_progress = start;
  SteadyClock::time_point next_count = start;
  std::optional<SteadyClock::time_point> next_sample;
  if (request_.sample_interval_ns && hooks_.sampled)
    next_sample = start + std::chrono::nanoseconds(*request_.sample_interval_ns);
  for (;;) {
    if (hooks_.interrupted()) return RecordEnd::interrupted;
    if (command_ && command_->poll()) return RecordEnd::command_ended;
    if (backend_.failed()) return RecordEnd::cannot_write;
    auto pause = std::chrono::nanoseconds(command_ || backend_.counts_missed_calls() ? kShortPause : kPause);
    if (request_.duration_ns) {
      const auto left = start + std::chrono::nanoseconds(*request_.duration_ns) - SteadyClock::now();
      if (left <= 0ns) return RecordEnd::duration;
      pause = std::min(pause, std::chrono::nanoseconds(left));
    }
    if (next_sample) pause = std::clamp(std::chrono::nanoseconds(*next_sample - SteadyClock::now()), 0ns, pause);
    changes_->wait(pause);
    if (next_sample && SteadyClock::now() >= *next_sample) {
      take_sample(false);
      // If a sample is late, all later samples are delayed too: samples in quick succession would disturb the system,
      // because reading the state takes locks of the kernel.
      *next_sample =
          std::max(*next_sample + std::chrono::nanoseconds(*request_.sample_interval_ns), SteadyClock::now());
    }
    if (const auto begin = SteadyClock::now(); backend_.counts_missed_calls() && begin >= next_count) {
      count_missed();
      next_count = begin + kMissedPart * (SteadyClock::now() - begin);
    }
    if (SteadyClock::now() < next_progress) continue;
    next_progress = SteadyClock::now() + kProgressEvery;
    update();
  }
}

void RecordSession::update() {
  backend_.poll();
  count_missed();
  if (names_) names_->read_if_due();
  if (moves_) moves_->poll();
  if (user_memory_) user_memory_->pass_on_changes(hooks_.mapped);
  if (!hooks_.progress) return;
  RecordProgress progress = backend_.progress();
  progress.seconds = seconds_since(start_);
  progress.lost += missed();
  hooks_.progress(progress, [this] { return recording_now(); });
}

void RecordSession::stop() {
  changes_->look();
  backend_.stop();
  outcome_.seconds = seconds_since(start_);
  outcome_.missed_calls_are_known = count_missed();
  take_sample(true);
}

void RecordSession::finish() {
  // Saved names may be out of date, because all tracers share the list. So the names in /proc replace them.
  Background<Notes> late_notes("a thread that reads the tasks in /proc", [this] {
    if (traits_.saves_task_names) tasks_.add_saved_cmdlines(tracefs_);
    tasks_.scan_proc();
    Notes notes;
    add_late_notes(notes);
    return notes;
  });
  backend_.finish(outcome_);
  if (command_) {
    outcome_.command_started = !command_->is_held();
    command_->terminate();
    outcome_.command_status = command_->poll();
  }
  KernelDescription& kernel = outcome_.recording.kernel;
  kernel.late_notes.merge(late_notes.get());
  tasks_.describe(kernel);
  if (user_memory_) add_user_memory();
  // The kernel does not report on which CPU events were missed.
  outcome_.missed_events = missed();
  if (missed() > 0) outcome_.recording.more_statistics.push_back(lost_somewhere_text(missed()));
  outcome_.missed_by_function = missed_calls_.by_function();
  if (missed_events_ > 0) outcome_.missed_by_function[""] += missed_events_;
  add_own_cost(outcome_.cost);
}

void RecordSession::add_user_memory() {
  KernelDescription& kernel = outcome_.recording.kernel;
  kernel.user_memory = user_memory_->memory();
  outcome_.no_mappings_reason = user_memory_->reason();
  outcome_.lost_mappings = user_memory_->lost_text();
  outcome_.late_mappings = user_memory_->late_text();
  outcome_.unanswered_build_ids = user_memory_->unanswered();
  const auto note = [&](const char* name, const std::string& text) {
    if (!text.empty()) kernel.late_notes[name] = text;
  };
  note("lost_mappings", outcome_.lost_mappings);
  note("late_mappings", outcome_.late_mappings);
  note("unanswered_build_ids", user_memory_->unanswered_text());
}

// Reads the first sample while the back end opens the output.
void RecordSession::begin_first_sample() {
  if (hooks_.sampled)
    first_sample_.emplace("a thread that reads the state of the memory", [this] { return read_sample(true); });
}

StateSample RecordSession::read_sample(bool at_edge) const {
  StateSample sample = sample_memory_state();
  sample.ticks = backend_.now_ticks();
  if (at_edge && hooks_.completed) hooks_.completed(sample);
  return sample;
}

void RecordSession::pass_on(StateSample sample) const {
  RecorderMemory memory = backend_.memory();
  if (user_memory_) memory.ring_buffers += user_memory_->ring_bytes();
  if (moves_) memory.ring_buffers += moves_->ring_bytes();
  add_recorder(sample, memory);
  hooks_.sampled(sample);
}

void RecordSession::take_sample(bool at_edge) const {
  if (hooks_.sampled) pass_on(read_sample(at_edge));
}

// False if the kernel's counts of calls contradict each other.
bool RecordSession::count_missed() {
  missed_events_ = std::max(missed_events_, backend_.missed_events());
  if (!backend_.counts_missed_calls()) return true;
  const std::uint64_t asked_ns = now_ns();
  const std::optional<MissedCounts> counts = backend_.missed_calls();
  if (counts) missed_calls_.note(asked_ns, now_ns(), *counts);
  return counts.has_value();
}

void RecordSession::add_late_notes(Notes& notes) {
  notes = changes_->notes();
  notes.insert(begun_meanwhile_.begin(), begun_meanwhile_.end());
  notes["tasks_later"] = describe_processes();
  if (std::string pods = list_pod_names(); !pods.empty()) notes["pods_later"] = std::move(pods);
  if (!excluded_.empty()) notes["recorder_tasks"] = fmt::format("{}", fmt::join(excluded_, " "));
  if (missed_calls_.total() > 0) notes["missed"] = missed_calls_.text();
  if (!moves_) return;
  moves_->poll();
  outcome_.lost_cgroup_moves = moves_->lost_text();
  if (!moves_->text().empty()) notes["cgroup_moves"] = moves_->text();
  if (!outcome_.lost_cgroup_moves.empty()) notes["lost_cgroup_moves"] = outcome_.lost_cgroup_moves;
}

RawRecording RecordSession::recording_now() {
  tasks_.scan_proc();
  RawRecording now;
  now.kernel.cpu_nodes = outcome_.recording.kernel.cpu_nodes;
  tasks_.describe(now.kernel);
  add_late_notes(now.kernel.late_notes);
  if (user_memory_) now.kernel.user_memory = user_memory_->memory();
  const std::vector<unsigned>& cpus = backend_.cpus();
  for (std::size_t i = 0; i < cpus.size(); ++i) now.cpus.push_back({cpus[i], {}, 0, backend_.statistics(i)});
  if (missed() > 0) now.more_statistics.push_back(lost_somewhere_text(missed()));
  return now;
}

}  // namespace

void add_own_cost(RecorderCost& cost) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  cost.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  cost.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

bool selects_tasks(const RecordRequest& request) {
  return request.only_command || !request.pids.empty() || !request.cgroup.empty();
}

RecordOutcome run_session(RecordBackend& backend, const std::string& tracefs, const RecordRequest& request,
                          const RecordHooks& hooks) {
  return RecordSession(backend, tracefs, request, hooks).run();
}

}  // namespace kmt
