// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record/recorder.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/bpf/kernel_btf.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/record/readers.hpp"
#include "capture/session/probe_notes.hpp"
#include "capture/session/record_session.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/tracefs/buffer_counters.hpp"
#include "trace/calls/refused_functions.hpp"

namespace kmt {

namespace {

constexpr const char* kClock = "mono";  // bpf_ktime_get_ns()

std::uint64_t ring_bytes_of_cpu(const RecordRequest& request, std::size_t cpus) {
  if (request.buffer_bytes) return *request.buffer_bytes;
  return std::min(request.preferred_buffer_bytes, request.most_buffer_bytes / cpus);
}

// The divisor of a CPU's ring memory if calls are recorded: events and calls each get half.
constexpr std::uint64_t kPartForCalls = 2;

// Returns the description of the kernel. The formats of the events are those of the records that the programs write.
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

class BpfBackend : public RecordBackend {
 public:
  BpfBackend(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks, const OpenSink& open)
      : tracefs_(tracefs), request_(request), hooks_(hooks), open_(open), cpus_(ring_buffer_cpus(tracefs)) {}

  Traits traits() const override { return {.clock = kClock}; }
  void prepare(const HeldCommand* command, RecordOutcome& outcome) override;
  const std::vector<unsigned>& cpus() const override { return cpus_; }
  std::vector<pid_t> open(std::vector<pid_t> own, RecordOutcome& outcome) override;
  void attach() override {
    readers_->start();
    programs_->attach();
  }
  void start() override;

  std::uint64_t now_ticks() const override { return monotonic_ns(); }
  RecorderMemory memory() const override { return {.bpf_maps = ring_bytes()}; }
  bool failed() const override { return readers_->failed(); }
  void poll() override {}
  RecordProgress progress() const override;
  bool counts_missed_calls() const override { return calls_.has_value(); }
  std::optional<MissedCounts> missed_calls() const override {
    return calls_ ? calls_->programs.missed() : MissedCounts{};
  }
  std::uint64_t missed_events() const override { return programs_->missed(); }
  std::string statistics(std::size_t cpu) const override { return statistics_of(readers_->counts(cpu)); }

  void stop() override;
  void finish(RecordOutcome& outcome) override;

 private:
  ProgramsRequest programs_request(const HeldCommand* command, bool own_events) const;
  void set_up_calls(const ProgramsRequest& wanted, RecordOutcome& outcome);
  std::optional<StackRecords> stack_records(const KernelDescription& kernel) const;
  std::uint64_t ring_bytes() const { return programs_->ring_bytes() + (calls_ ? calls_->programs.ring_bytes() : 0); }

  const std::string& tracefs_;
  const RecordRequest& request_;
  const RecordHooks& hooks_;
  const OpenSink& open_;
  const std::vector<unsigned> cpus_;
  std::optional<RecordPrograms> programs_;
  std::optional<CallRecorder> calls_;
  std::optional<RecordReaders> readers_;
};

ProgramsRequest BpfBackend::programs_request(const HeldCommand* command, bool own_events) const {
  ProgramsRequest wanted;
  wanted.events = request_.events;
  wanted.selection = {request_.pids, request_.cgroup};
  if (request_.only_command && command != nullptr) wanted.selection.processes.push_back(command->pid());
  wanted.stacks = request_.stacks;
  wanted.user_stacks = request_.user_stacks;
  wanted.without_own_events = !own_events;
  wanted.cpus = cpus_.back() + 1;
  wanted.ring_bytes_of_cpu = ring_bytes_of_cpu(request_, cpus_.size());
  const bool wants_calls = !request_.calls.functions.empty();
  if (wants_calls) wanted.ring_bytes_of_cpu /= kPartForCalls;
  // With calls, a lost event makes the calls around it uncertain. Therefore nested events are recorded as well.
  wanted.nested = request_.stacks || request_.user_stacks || wants_calls;
  return wanted;
}

void BpfBackend::prepare(const HeldCommand* command, RecordOutcome& outcome) {
  const ProgramsRequest wanted = programs_request(command, outcome.own_events_recorded);
  require_bpf();
  const bool wants_calls = !request_.calls.functions.empty();
  std::shared_ptr<btf> types;  // keeps the kernel's BTF in memory, because several objects below use it
  if (wants_calls) types = kernel_btf();
  programs_.emplace(tracefs_, wanted);
  KernelDescription& kernel = outcome.recording.kernel;
  kernel = describe(tracefs_, request_, *programs_);
  if (wants_calls) set_up_calls(wanted, outcome);
  if (request_.path_probes == PathProbing::on) note_all_unprobed(kernel, "--backend bpf does not use probes");
  if (request_.path_probes == PathProbing::off) note_all_unprobed(kernel, kProbesAreOff);
  outcome.cost.ring_buffer_bytes = ring_bytes();
  if (!request_.user_stacks) return;
  for (FormatText& format : kernel.formats)
    if (format.text.starts_with("name: user_stack\n")) format.text = longer_user_stack(format.text);
}

void BpfBackend::set_up_calls(const ProgramsRequest& wanted, RecordOutcome& outcome) {
  KernelDescription& kernel = outcome.recording.kernel;
  calls_.emplace(CallRecorder{
      CallPrograms(request_.calls, wanted, programs_->shared(), kernel.kallsyms.text(), hooks_.interrupted),
      CallLayout(request_.calls.functions, kernel.formats)});
  outcome.call_backend = calls_->programs.backend();
  outcome.call_backend_reason = calls_->programs.reason();
  for (FormatText& format : calls_->layout.formats()) kernel.formats.push_back(std::move(format));
  kernel.call_types = request_.calls.types;
  if (const auto& refused = calls_->programs.refused(); !refused.empty())
    kernel.notes["refused_functions"] = refused_functions_text(refused);
}

std::optional<StackRecords> BpfBackend::stack_records(const KernelDescription& kernel) const {
  if (!request_.stacks && !request_.user_stacks) return std::nullopt;
  const auto format_of = [this](const char* name) {
    return read_file(fmt::format("{}/events/ftrace/{}/format", tracefs_, name));
  };
  StackRecords stacks{{}, {}, TracingFrames(kernel.kallsyms.text())};
  if (request_.stacks) stacks.kernel = stack_layout_of(format_of("kernel_stack"));
  if (request_.user_stacks) stacks.user = user_stack_layout_of(format_of("user_stack"));
  return stacks;
}

// Opens the output and the readers of the rings. Returns all threads of this process if `own` is not empty, because the
// programs exclude all of these threads.
std::vector<pid_t> BpfBackend::open(std::vector<pid_t> own, RecordOutcome& outcome) {
  KernelDescription& kernel = outcome.recording.kernel;
  std::optional<StackRecords> stacks = stack_records(kernel);
  RecordingSink* const sink = open_(kernel, cpus_);
  readers_.emplace(*programs_, calls_ ? &*calls_ : nullptr, cpus_, std::move(stacks), *sink);
  return own.empty() ? own : threads_of("self");
}

void BpfBackend::start() {
  programs_->begin();
  if (calls_) calls_->programs.begin();
}

RecordProgress BpfBackend::progress() const {
  RecordProgress progress;
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    const RecordReaders::Counts counts = readers_->counts(i);
    progress.events += counts.records;
    progress.bytes += counts.bytes;
    progress.lost += counts.lost;
  }
  progress.fullest_buffer = readers_->fullest();
  return progress;
}

void BpfBackend::stop() {
  if (calls_) calls_->programs.end();
  programs_->end();
}

void BpfBackend::finish(RecordOutcome& outcome) {
  programs_->detach();
  readers_->finish(outcome.write_error);
  outcome.cost.fullest_buffer = readers_->fullest();
  for (std::size_t i = 0; i < cpus_.size(); ++i) {
    RawCpu& cpu = outcome.recording.cpus.emplace_back(RawCpu{cpus_[i], {}, readers_->counts(i).bytes, statistics(i)});
    if (const std::uint64_t left = readers_->not_taken(i); left > 0)
      cpu.statistics += fmt::format("not recorded: {}\n", left);
  }
  outcome.not_followed_processes = programs_->not_followed();
}

}  // namespace

RecordOutcome record_by_bpf(const std::string& tracefs, const RecordRequest& request, const RecordHooks& hooks,
                            const OpenSink& open) {
  BpfBackend backend(tracefs, request, hooks, open);
  return run_session(backend, tracefs, request, hooks);
}

}  // namespace kmt
