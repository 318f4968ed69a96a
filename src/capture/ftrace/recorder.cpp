// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/ftrace/recorder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/background.hpp"
#include "capture/features/tsc_scale.hpp"
#include "capture/ftrace/buffer_size.hpp"
#include "capture/ftrace/call_probes.hpp"
#include "capture/ftrace/event_filters.hpp"
#include "capture/ftrace/function_graph.hpp"
#include "capture/ftrace/path_probes.hpp"
#include "capture/ftrace/persistent.hpp"
#include "capture/ftrace/process_filter.hpp"
#include "capture/ftrace/ring_marks.hpp"
#include "capture/ftrace/ring_readers.hpp"
#include "capture/ftrace/watcher.hpp"
#include "capture/session/probe_notes.hpp"
#include "capture/session/record_session.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "capture/tracefs/tracefs.hpp"

namespace kmt {

namespace {

void choose_clock(const TracefsInstance& instance, const std::string& clock) {
  try {
    instance.set("trace_clock", clock);
  } catch (Error& error) {
    error.hint(fmt::format("The clocks of this kernel are {}", trim(read_file(instance.file("trace_clock")))));
    throw;
  }
}

class FtraceBackend : public RecordBackend {
 public:
  FtraceBackend(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks)
      : tracefs_(tracefs),
        request_(request),
        hooks_(hooks),
        use_(instance_use(tracefs, request.persistent_instance)),
        watcher_(use_) {}

  Traits traits() const override { return {request_.clock, true, true}; }
  void prepare(const HeldCommand* command, RecordOutcome& outcome) override;
  const std::vector<unsigned>& cpus() const override { return cpus_; }
  std::vector<pid_t> open(std::vector<pid_t> own, RecordOutcome& outcome) override;
  void attach() override {
    if (!is_persistent()) readers_->start();
  }
  void start() override;

  std::uint64_t now_ticks() const override;
  RecorderMemory memory() const override { return {.ring_buffers = buffer_bytes_ * cpus_.size()}; }
  bool failed() const override { return readers_->failed(); }
  void poll() override;
  RecordProgress progress() const override;
  bool counts_missed_calls() const override { return probes_.has_value(); }
  std::optional<MissedCounts> missed_calls() const override { return probes_ ? probes_->missed() : MissedCounts{}; }
  std::uint64_t missed_events() const override { return 0; }
  std::string statistics(std::size_t cpu) const override { return statistics_of(cpus_[cpu]); }

  void stop() override;
  void finish(RecordOutcome& outcome) override;

 private:
  bool is_persistent() const { return !request_.persistent_instance.empty(); }
  void set_up_instance();
  std::uint64_t choose_own_buffer_size() const;
  void finish_sizing();
  void select_processes();
  void write_mark();
  void try_to_write_mark();
  void set_up_calls(RecordOutcome& outcome);
  void note_missed_frees(KernelDescription& kernel) const;
  void sum_counters();
  std::string statistics_of(unsigned cpu) const;

  const std::string& tracefs_;
  const RecordRequest& request_;
  const RecordHooks& hooks_;
  const InstanceUse use_;
  // The watcher must be created before any thread, because it forks. It is created before the instance and destroyed
  // after it, so it can remove the instance whenever the recorder is killed.
  const Watcher watcher_;
  std::optional<TracefsInstance> instance_;
  // Statistics of the first CPU, which contain the trace clock's time. Opened early, because opening waits while the
  // size of the buffers is set.
  FileDescriptor statistics_;
  // Sets the size of the buffers. The kernel mostly waits for other CPUs meanwhile.
  std::optional<Background<void>> sizing_;
  std::vector<unsigned> cpus_;
  std::uint64_t buffer_bytes_ = 0;  // size of a CPU's buffer in bytes
  const HeldCommand* command_ = nullptr;
  std::optional<ProcessFilter> processes_;
  std::optional<CallProbes> probes_;
  std::optional<FunctionGraph> graph_;
  std::optional<PathProbes> path_probes_;
  std::optional<RingReaders> readers_;
  BufferCounters counters_;  // sums of the counters of all CPUs
  double fullest_ = 0;       // filled fraction of the fullest buffer since the start
  // The following members are used only with a persistent instance.
  const KernelDescription* kernel_ = nullptr;
  std::optional<std::uint64_t> kernel_text_;  // address of _text
  std::chrono::steady_clock::time_point next_mark_;
  std::chrono::steady_clock::time_point next_scan_;  // time of the next scan of /proc
  Tasks tasks_;
  std::string task_lines_;        // text of describe_processes() at the last scan
  std::string incomplete_marks_;  // see RecordOutcome
};

void FtraceBackend::prepare(const HeldCommand* command, RecordOutcome& outcome) {
  instance_.emplace(use_);
  cpus_ = ring_buffer_cpus(instance_->path());
  KernelDescription& kernel = outcome.recording.kernel;
  Background<KernelDescription> description("a thread that describes the kernel", [this] {
    return describe_kernel(tracefs_, instance_->path(), request_.events, request_.clock);
  });
  set_up_instance();
  kernel = description.get();
  kernel.clock_scale = scale_of_clock(request_.clock);
  kernel_ = &kernel;
  kernel_text_ = kernel.kallsyms.kernel_text_address();
  command_ = command;
  const bool wants_calls = !request_.calls.functions.empty();
  const auto records = [&](const char* name) {
    return std::ranges::find(request_.events, EventName{"kmem", name}) != request_.events.end();
  };
  if (wants_calls) set_up_calls(outcome);
  if (request_.path_probes == PathProbing::on && !probes_)
    path_probes_.emplace(tracefs_, *instance_, request_.probed_types,
                         records("mm_page_alloc") && records("mm_page_free"), kernel);
  if (request_.path_probes == PathProbing::off) note_all_unprobed(kernel, kProbesAreOff);
}

void FtraceBackend::set_up_instance() {
  const TracefsInstance& instance = *instance_;
  instance.set("tracing_on", "0");
  // A new instance inherits the top-level buffer's options, which another user may have changed.
  if (instance.has("options/overwrite")) instance.set("options/overwrite", "1");
  instance.set("options/stacktrace", request_.stacks ? "1" : "0");
  if (request_.user_stacks && !instance.has("options/userstacktrace"))
    throw Error("This kernel records no user stacks", ExitCode::unsupported)
        .hint("It is built without CONFIG_USER_STACKTRACE_SUPPORT. --backend bpf may be able to record user stacks");
  if (instance.has("options/userstacktrace")) instance.set("options/userstacktrace", request_.user_stacks ? "1" : "0");
  const std::uint64_t bytes = is_persistent() ? 0 : choose_own_buffer_size();
  choose_clock(instance, request_.clock);  // empties the buffers
  statistics_ = open_file(instance.file(fmt::format("per_cpu/cpu{}/stats", cpus_.front())), O_RDONLY);
  if (!is_persistent()) {
    sizing_.emplace("a thread that sets the size of the buffers", [this, bytes] { size_buffers(*instance_, bytes); });
    return;
  }
  open_file(instance.file("trace"), O_WRONLY | O_TRUNC);  // clears the buffer and its counters
  for (const EventName& event : request_.events)
    instance.set(fmt::format("events/{}/{}/filter", event.system, event.name), "0");
  if (instance.has("options/markers")) instance.set("options/markers", "1");
}

std::uint64_t FtraceBackend::choose_own_buffer_size() const {
  if (request_.buffer_bytes) return *request_.buffer_bytes;
  return choose_buffer_size(measure_rate(*instance_, request_.events), request_.preferred_buffer_bytes,
                            request_.most_buffer_bytes, static_cast<unsigned>(cpus_.size()));
}

void FtraceBackend::finish_sizing() {
  if (sizing_) sizing_->get();
  sizing_.reset();
}

void FtraceBackend::select_processes() {
  if (!selects_tasks(request_)) return;
  std::vector<pid_t> pids = request_.pids;
  if (request_.only_command && command_ != nullptr) pids.push_back(command_->pid());
  const bool by_graph = !request_.calls.functions.empty() && request_.calls.tracer != CallTracer::kprobe_events;
  processes_.emplace(*instance_, pids, request_.cgroup, watcher_.pid(), by_graph);
}

void FtraceBackend::set_up_calls(RecordOutcome& outcome) {
  KernelDescription& kernel = outcome.recording.kernel;
  if (auto gfp_flags = describe_gfp_flags(tracefs_)) kernel.formats.push_back(std::move(*gfp_flags));
  outcome.call_backend = request_.calls.tracer == CallTracer::kprobe_events
                             ? probes_.emplace(tracefs_, *instance_, request_.calls, kernel).name()
                             : graph_.emplace(tracefs_, *instance_, request_.calls, kernel).name();
}

std::vector<pid_t> FtraceBackend::open(std::vector<pid_t> own, RecordOutcome& outcome) {
  KernelDescription& kernel = outcome.recording.kernel;
  PageSink* const sink = hooks_.described ? hooks_.described(kernel, cpus_) : nullptr;
  finish_sizing();
  buffer_bytes_ = std::max<std::uint64_t>(read_buffer_size(instance_->path(), cpus_.front()), 1);
  outcome.cost.ring_buffer_bytes = buffer_bytes_ * cpus_.size();
  select_processes();
  readers_.emplace(instance_->path(), kernel.sub_buffer_bytes, request_.scratch_directory, sink,
                   is_persistent() ? BeforeFirstPage::overwritten : BeforeFirstPage::nothing);
  if (!own.empty()) {
    for (const pid_t thread : readers_->threads()) own.push_back(thread);
    own.push_back(watcher_.pid());
  }
  outcome.filtered_by_pid_list = set_event_filters(*instance_, request_.events, request_.filters, own);
  for (const EventName& event : request_.events)
    instance_->set(fmt::format("events/{}/{}/enable", event.system, event.name), "1");
  if (graph_) graph_->leave_out(own);
  if (probes_) probes_->enable(own);
  if (path_probes_) path_probes_->enable();
  return own;
}

void FtraceBackend::start() {
  instance_->set("tracing_on", "1");
  if (is_persistent()) try_to_write_mark();
}

// Writes a description of this boot (capture/ftrace/ring_marks.hpp) into the buffer. The time between two descriptions
// depends on their size, so that they take at most 20 kB of the buffer per second.
void FtraceBackend::write_mark() {
  using namespace std::chrono_literals;
  KernelDescription now = *kernel_;
  // The kernel frees many objects after a read of /proc. The trace has these frees, but not the recorder's allocations.
  // So /proc is read only once a minute.
  if (std::chrono::steady_clock::now() >= next_scan_) {
    tasks_.scan_proc();
    task_lines_ = describe_processes();
    next_scan_ = std::chrono::steady_clock::now() + 60s;
  }
  tasks_.add_saved_cmdlines(tracefs_);
  tasks_.describe(now);
  now.notes["modules"] = try_read_file("/proc/modules").value_or("");
  now.notes["tasks_later"] = task_lines_;
  const auto serial = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  RingMark mark = mark_of(now, kernel_text_);
  // One CPU writes the mark. A mark that fills much of this CPU's buffer would overwrite its events, or its own begin.
  if (bytes_of(mark) > buffer_bytes_ / 4) {
    remove_tasks(mark);
    incomplete_marks_ = "the buffer is too small for the names of all tasks";
  }
  std::size_t bytes = 0;
  const FileDescriptor marker = open_file(instance_->file("trace_marker"), O_WRONLY);
  for (const std::string& piece : split_mark(mark, serial)) {
    write_all(marker.get(), piece, instance_->file("trace_marker"));
    bytes += piece.size();
  }
  next_mark_ = std::chrono::steady_clock::now() + std::max<std::chrono::milliseconds>(2s, 1ms * (bytes / 20));
}

// A flight recorder continues without a mark. The kernel refuses a mark while something else has disabled the buffer or
// its markers, or resizes it.
void FtraceBackend::try_to_write_mark() {
  next_mark_ = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  try {
    write_mark();
  } catch (const Error& error) {
    incomplete_marks_ = error.what();
  }
}

std::uint64_t FtraceBackend::now_ticks() const {
  std::array<char, 1024> text;  // the file has 250 bytes
  const ssize_t size = ::pread(statistics_.get(), text.data(), text.size(), 0);
  return parse_buffer_counters({text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))}).now_ticks;
}

// Overwritten events in a persistent buffer do not count as lost: a flight recorder keeps only the latest events.
std::string FtraceBackend::statistics_of(unsigned cpu) const {
  std::string text = read_buffer_statistics(instance_->path(), cpu);
  return is_persistent() ? without_overrun(text) : text;
}

void FtraceBackend::poll() {
  if (is_persistent() && std::chrono::steady_clock::now() >= next_mark_) try_to_write_mark();
  if (processes_) processes_->update();
  sum_counters();
}

void FtraceBackend::sum_counters() {
  counters_ = {};
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    const BufferCounters counters = parse_buffer_counters(statistics(i));
    counters_ += counters;
    // The sum includes the page that is being read, which is outside the buffer.
    const double filled = static_cast<double>(counters.unread_bytes) / static_cast<double>(buffer_bytes_);
    fullest_ = std::clamp(filled, fullest_, 1.0);
  }
}

RecordProgress FtraceBackend::progress() const {
  return {0, counters_.read + counters_.unread, readers_->bytes(), counters_.lost, fullest_};
}

void FtraceBackend::stop() {
  instance_->set("tracing_on", "0");
  sum_counters();
}

void FtraceBackend::finish(RecordOutcome& outcome) {
  if (is_persistent()) readers_->start();
  outcome.recording.cpus = readers_->finish(outcome.write_error);
  outcome.cost.fullest_buffer = fullest_;
  outcome.incomplete_marks = incomplete_marks_;
  for (RawCpu& cpu : outcome.recording.cpus) {
    cpu.statistics = statistics_of(cpu.cpu);
    // This line is from kmemtrace, not from the kernel. The line informs readers of the trace that these events are
    // lost.
    if (const std::uint64_t unread = parse_buffer_counters(cpu.statistics).unread; unread > 0)
      cpu.statistics += fmt::format("not recorded: {}\n", unread);
  }
  graph_.reset();
  statistics_.reset();  // the instance cannot be removed while one of its files is open
  if (path_probes_) note_missed_frees(outcome.recording.kernel);
  if (instance_->remove())
    watcher_.dismiss();
  else
    outcome.left_instance = instance_->path();
}

// Adds missed calls of free functions to the note about functions without a probe. Missed calls do not count as lost
// events. The objects that they freed look live, as they would without probes.
void FtraceBackend::note_missed_frees(KernelDescription& kernel) const {
  const std::string missed = path_probes_->missed_text();
  if (missed.empty()) return;
  const auto unprobed = kernel.notes.find("unprobed_functions");
  kernel.late_notes["unprobed_functions"] =
      unprobed == kernel.notes.end() ? missed : fmt::format("{}; {}", unprobed->second, missed);
}

}  // namespace

RecordOutcome record(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks) {
  FtraceBackend backend(tracefs, request, hooks);
  return run_session(backend, tracefs, request, hooks);
}

}  // namespace kmt
