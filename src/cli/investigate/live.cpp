// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/live.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/growth/large_caches.hpp"
#include "analysis/growth/narrowing.hpp"
#include "analysis/growth/samples.hpp"
#include "analysis/snapshot/health.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/investigate/caches.hpp"
#include "cli/investigate/events.hpp"
#include "cli/investigate/frames.hpp"
#include "cli/investigate/progress.hpp"
#include "cli/investigate/states.hpp"
#include "cli/investigate/watched_samples.hpp"
#include "cli/record/run.hpp"
#include "formats/kmt/snapshot.hpp"
#include "reading/snapshots.hpp"
#include "results/series/thresholds.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
// the first attempt to start a recording is made after this fraction of the duration
constexpr double kFirstLook = 0.45;
constexpr double kLastLook = 0.75;
constexpr double kBriefRecordingSeconds = 4;
constexpr double kEnoughForARate = 0.5;  // seconds

constexpr double kPartForSamples = 0.25;  // fraction of the CPU budget that samples may use

struct WatchedStates {
  std::vector<StateSample> all;
  std::vector<MemorySeriesPoint> unaccounted;  // unaccounted memory of the states in `all`
  double next = 0;                             // time of the next state, in seconds
};

struct NarrowedRecording {
  bool began = false;
  bool is_on = false;
  // true: the recording is so short that it shows who uses the growing memory, but not how the memory grows over time
  bool is_brief = false;
  bool ends_samples = false;  // true: sampling ends when the recording starts
  bool no_single_pages = false;
  std::uint64_t setup_begin_ns = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t events = 0;
  UnseenSource why_none;  // reason why the growing memory is not recorded
};

// True if the memory of a process does not explain the size of its page tables. A mapping that is used completely needs
// tables of 1/512 of its size. In small processes, the tables are up to a tenth of the memory. The limit was chosen by
// judgement, and not measured.
bool has_too_many_page_tables(std::uint32_t process) {
  constexpr std::uint64_t kMostTimes = 10;
  constexpr std::uint64_t kLeastBytes = 1 << 20;
  const ProcessMemory memory = memory_of_process(process);
  return memory.page_table_bytes >= kLeastBytes && memory.page_table_bytes > memory.user_bytes / kMostTimes;
}

class Watch {
 public:
  Watch(const LiveInvestigation& request, const InvestigationPlan& plan, const InterruptGuard& interrupt)
      : request_(request),
        plan_(plan),
        most_cpu_(most_cpu_seconds(request)),
        interrupt_(interrupt),
        samples_(
            request.seconds, [this] { return request_.seconds - seconds(); }, watched_.unseen) {}

  WatchedKernel run() {
    watched_.kernel = describe_running_kernel();
    watched_.kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
    const Clock::time_point before = Clock::now();
    watched_.before = collect_snapshot();
    watched_.start_unix_ns = watched_.before.unix_ns;
    write_snapshot("before.kmt", watched_.before);
    if (inspect_before()) write_snapshot("before.kmt", watched_.before);
    watched_.written.emplace_back("before.kmt");
    begin_ = Clock::now();
    begin_boot_ns_ = boottime_ns();
    if (plan_.samples) {
      samples_.begin();
      begin_ = Clock::now();  // start the clock again, because loading the BPF programs may have taken long
    }
    double look = kFirstLook * request_.seconds;
    while (!is_over()) {
      std::this_thread::sleep_for(kPause);
      turn();
      const bool is_spent = samples_.are_drawn() && is_part_of_samples_spent(cpu_use(), plan_);
      if (is_spent && !std::exchange(was_spent_, true)) look = std::min(look, seconds());
      if (!plan_.trace || recording_.began || seconds() < look || look > kLastLook * request_.seconds) continue;
      look = seconds() + request_.seconds / 10;
      record_if_something_grows(look > kLastLook * request_.seconds);
    }
    turn();
    progress_.clear();
    // an interrupted run may have too few states for a verdict, so read one more
    if (watched_.interrupted) take_state();
    InvestigationEvidence last = evidence();
    last.narrowing = watched_.evidence.narrowing;
    last.running = running_processes(begin_boot_ns_);
    if (last.samples) include_page_tables(has_too_many_page_tables, *last.samples);
    watched_.evidence = std::move(last);
    if (samples_.are_drawn()) {
      end_samples();
      // The kernel frees the BPF maps of samples a little later. Without this pause, the maps would look like growth in
      // the last snapshot.
      std::this_thread::sleep_for(kPause);
    }
    if (!recording_.why_none.what.empty() && watched_.recorded_seconds == 0)
      watched_.unseen.push_back(recording_.why_none);
    watched_.seconds_between_snapshots = std::chrono::duration<double>(Clock::now() - before).count();
    watched_.after = collect_snapshot();
    write_snapshot("after.kmt", watched_.after);
    if (inspect_after()) write_snapshot("after.kmt", watched_.after);
    watched_.written.emplace_back("after.kmt");
    watched_.cost = {static_cast<double>(own_cpu_ns()) / 1e9,
                     kernel_seconds(),
                     samples_.costs().is_measured(),
                     most_cpu_,
                     request_.cpu_share,
                     plan_.cpus};
    return std::move(watched_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double kernel_seconds() const {
    return samples_.kernel_seconds() +
           static_cast<double>(recording_.events) * seconds_of_an_event(watched_.trace_has_stacks);
  }

  double since_first_state(std::uint64_t ns) const {
    const std::uint64_t first = states_.all.empty() ? ns : states_.all.front().ticks;
    return static_cast<double>(ns - std::min(ns, first)) / 1e9;
  }

  void write_snapshot(const char* name, const StateSample& sample) const {
    kmt_format::write_snapshot(fmt::format("{}/{}", request_.folder, name), sample, watched_.kernel);
  }

  // Counts page frames, and reserves the CPU time for what the end of the investigation inspects. Counting may take
  // long, so the snapshot must be stored before. Returns true if the counts were added to the snapshot.
  bool inspect_before() {
    watched_.stock_before = snapshot_of(watched_.before, watched_.kernel);
    const std::size_t texts = watched_.before.texts.size();
    frames_.begin(watched_.stock_before, watched_.before, plan_, watched_.unseen);
    plan_.reserved_cpu_seconds = frames_.cpu_seconds_to_end();
    if (!large_caches(watched_.stock_before, {}).empty()) plan_.reserved_cpu_seconds += kSecondsOfObjects;
    return watched_.before.texts.size() != texts;
  }

  // Like inspect_before().
  bool inspect_after() {
    watched_.stock_after = snapshot_of(watched_.after, watched_.kernel);
    frames_.end(watched_.stock_after, watched_.after, watched_.unseen);
    watched_.census = frames_.change(watched_.stock_after);
    if (!frames_.last()) return false;
    watched_.stock_after.pages = frames_.last();
    watched_.stock_after.health = health_of(watched_.stock_after);
    return true;
  }

  double used_cpu() const { return static_cast<double>(own_cpu_ns()) / 1e9 + kernel_seconds(); }
  // True if the recording must end because of the CPU budget. If sampling continues after the recording, the recording
  // must not use up the budget of the samples.
  bool recording_is_over() const { return samples_.are_drawn() ? cpu_left() < cpu_of_samples_left() : cpu_left() < 0; }

  CpuUse cpu_use() const {
    const double recorded = recording_.is_on ? static_cast<double>(monotonic_ns() - recording_.begin_ns) / 1e9 : 0;
    // A rate measured over a shorter time may be that of a burst.
    const double events_per_s = static_cast<double>(recording_.events) / std::max(recorded, kEnoughForARate);
    return {seconds(), used_cpu(), recording_.events, recording_.is_on, events_per_s, watched_.trace_has_stacks};
  }
  // Returns the part of the CPU budget that the remaining steps of the investigation do not need.
  double cpu_left() const { return kmt::cpu_left(cpu_use(), plan_); }
  // Returns the CPU time that the remaining samples need, limited to a fraction of the budget.
  double cpu_of_samples_left() const {
    return std::min(samples_.costs().per_s() * (request_.seconds - seconds()), kPartForSamples * most_cpu_);
  }

  bool is_over() {
    if (interrupt_.interrupted()) watched_.interrupted = true;
    return watched_.interrupted || seconds() >= request_.seconds;
  }

  // Ends sampling if it exceeds the CPU budget. After this, only the kernel's counters are read until the end.
  void keep_within_budget() {
    if (cpu_left() < 0 && seconds() >= kThresholds.shortest_watch) end_samples_early("");
  }

  void end_samples_early(const char* rest) {
    watched_.unseen.push_back(
        {fmt::format("samples after {:.0f} s", seconds()),
         fmt::format("the CPU budget of {:.1f} s was used{}: sampling takes {:.1f} % of this machine's CPU time",
                     most_cpu_, rest, 100 * samples_.costs().per_s() / plan_.cpus),
         "raise --cpu"});
    samples_.look();
    end_samples();
  }

  void end_samples() {
    samples_.end(request_.folder);
    watched_.written.emplace_back("profile.kmt");
  }

  // Takes the samples that are due, and reads the kernel's counters if it is time. Called several times per second,
  // also during a recording.
  void turn() {
    if (samples_.are_drawn()) {
      samples_.drain();
      samples_.measure(seconds());
      samples_.tune(cpu_left(), recording_.began, plan_);
    }
    if (samples_.are_drawn()) keep_within_budget();
    if (seconds() >= states_.next) take_state();
    progress_.update(seconds(), request_.seconds, states_.all);
  }

  void take_state() {
    states_.next = seconds() + next_state_after(seconds(), plan_);
    StateSample state = sample_memory_state();
    const std::uint64_t ring = samples_.ring_bytes();
    add_recorder(state, {.ring_buffers = ring + (recording_.is_on ? kMostTraceBuffer : 0),
                         .bpf_maps = samples_.kernel_bytes() - std::min(ring, samples_.kernel_bytes())});
    if (auto zones = try_read_file("/proc/zoneinfo")) state.texts.emplace_back("zoneinfo", std::move(*zones));
    // Add the release to the first state, because it shows whether CPUs keep objects in sheaves.
    if (states_.all.empty())
      state.texts.emplace_back("uname",
                               fmt::format("Linux - {} {}\n", watched_.kernel.release, watched_.kernel.machine));
    state.ticks = monotonic_ns();
    if (const auto point = unaccounted_in(state, watched_.kernel.page_size)) states_.unaccounted.push_back(*point);
    states_.all.push_back(std::move(state));
  }

  InvestigationEvidence evidence() {
    InvestigationEvidence evidence;
    // A recording may still be ending when the requested time is over. This extra time is not counted.
    evidence.seconds = std::min(seconds(), request_.seconds);
    evidence.threshold_bytes_per_s = request_.threshold_bytes_per_s;
    evidence.states = states_over_time(states_.all, watched_.kernel.page_size, states_.unaccounted);
    if (samples_.are_drawn()) samples_.look();
    evidence.samples = samples_.seen();
    if (recording_.begin_ns > samples_.begin_ns())
      evidence.trace_begin_seconds = static_cast<double>(recording_.begin_ns - samples_.begin_ns()) / 1e9;
    if (recording_.begin_ns > 0) {
      evidence.setup_begin_seconds = since_first_state(recording_.setup_begin_ns);
      evidence.setup_end_seconds = since_first_state(recording_.begin_ns);
    }
    return evidence;
  }

  Narrowing what_can_be_recorded(const Narrowing& wanted);
  // CPU time in seconds that a recording of useful length needs
  double cpu_to_record(const Narrowing& narrowing) const;
  bool needs_stacks(const Narrowing& narrowing) const;
  double events_per_s(const Narrowing& narrowing) const;
  // Starts a recording if something may grow and the CPU budget is sufficient. `is_last`: this is the last attempt.
  void record_if_something_grows(bool is_last);
  void record_narrowed(const Narrowing& narrowing);
  // Returns the minimum duration in seconds of a recording that can show growth.
  double shortest_recording() const {
    return std::max(kThresholds.shortest_recording * request_.seconds, kThresholds.shortest_recording_seconds);
  }
  void say_why_so_short(double recorded_seconds);

  const LiveInvestigation& request_;
  InvestigationPlan plan_;
  double most_cpu_;
  const InterruptGuard& interrupt_;
  WatchedKernel watched_;
  Clock::time_point begin_ = Clock::now();
  std::uint64_t begin_boot_ns_ = 0;  // CLOCK_BOOTTIME, like the start times of processes
  WatchedSamples samples_;
  WatchedStates states_;
  NarrowedRecording recording_;
  WatchedFrames frames_;
  WatchProgress progress_;
  bool was_spent_ = false;      // true: samples have used up their part of the CPU budget
  bool saw_no_growth_ = false;  // true: no growth was visible when sampling ended
};

// Estimates the number of recorded events per second. Some frees cannot be filtered, so all of them are recorded: frees
// of kmalloc objects have no size, and frees of pages have no original order. Before Linux 6.1, frees of cache objects
// do not name the cache.
double Watch::events_per_s(const Narrowing& narrowing) const {
  const auto per_s = [this](const std::function<bool(const std::string&)>& counts) {
    double sum = 0;
    for (const auto& [cache, allocations] : samples_.allocations_per_s())
      if (counts(cache)) sum += allocations;
    return sum;
  };
  const auto is_kmalloc = [](const std::string& cache) { return cache.starts_with("kmalloc-"); };
  double events = per_s([&](const std::string& cache) { return narrowing.has(cache); });
  if (!narrowing.sizes.empty())
    events += samples_.costs().kfrees_per_s() > 0 ? samples_.costs().kfrees_per_s() : per_s(is_kmalloc);
  if (!narrowing.orders.empty()) events += page_frees_per_s(states_.all);
  Narrowing named;
  named.caches = narrowing.caches;
  events += per_s([&](const std::string& cache) {
    return narrowing.object_sizes.empty() ? named.has(cache) : !is_kmalloc(cache) && !cache.starts_with("pages");
  });
  return events;
}

// Returns the part of `wanted` that can be recorded for long enough to show growth. For the rest, samples must suffice.
Narrowing Watch::what_can_be_recorded(const Narrowing& wanted) {
  if (wanted.empty() || !samples_.seen()) return wanted;
  const double beside = cpu_left() - kSecondsToRecord - cpu_of_samples_left();
  // If samples have used up their part of the CPU budget, they may end to make room for the recording.
  const double instead = cpu_left() - kSecondsToRecord - (samples_.are_drawn() ? kSecondsToEndSamples : 0);
  const RecordingChoice choice = choose_recording(wanted, beside, was_spent_ ? instead : beside,
                                                  [this](const Narrowing& of) { return cpu_to_record(of); });
  recording_.ends_samples = choice.ends_samples;
  if (choice.rest.orders.size() < wanted.orders.size() && !std::exchange(recording_.no_single_pages, true))
    watched_.unseen.push_back({"an exact recording of single pages",
                               "a recording of the whole machine would have too many of them; samples cover them", ""});
  if (choice.of.empty() && !choice.rest.empty())
    recording_.why_none = {
        "an exact recording of possible growth",
        fmt::format("{} the CPU budget that remains is too small for a useful recording of {:.0f} events/s",
                    samples_.are_drawn() ? "while sampling continues," : "after sampling,", events_per_s(choice.rest)),
        "raise --cpu"};
  return choice.of;
}

// True if the recording must have stacks. Slab memory needs them only if sampling ended before the growth; otherwise
// the samples have the stacks of slab call sites. Pages need stacks in the recording, because many stacks have the same
// call site.
bool Watch::needs_stacks(const Narrowing& narrowing) const {
  return !(samples_.are_drawn() || samples_.seen()) || (saw_no_growth_ && !recording_.is_brief) || narrowing.pages ||
         !narrowing.orders.empty();
}

double Watch::cpu_to_record(const Narrowing& narrowing) const {
  const double seconds = recording_.is_brief ? kBriefRecordingSeconds
                                             : std::max(2 * kThresholds.shortest_recording * request_.seconds, 1.0);
  return seconds * (kSecondsOfRecording + events_per_s(narrowing) * whole_seconds_of_an_event(needs_stacks(narrowing)));
}

void Watch::say_why_so_short(double recorded_seconds) {
  const bool is_exact = recorded_seconds >= shortest_recording();
  watched_.unseen.push_back({is_exact ? "exact growth after the recording" : "growth in the recording",
                             fmt::format("it ended after {:.1f} s, {}", recorded_seconds,
                                         is_exact ? fmt::format("{:.1f} s early, because the CPU budget was used",
                                                                request_.seconds - seconds())
                                                  : "too early to distinguish growth from long lifetimes"),
                             "raise --cpu"});
}

void Watch::record_if_something_grows(bool is_last) {
  const Narrowing wanted = narrow(evidence());
  Narrowing narrowing = what_can_be_recorded(wanted);
  if (narrowing.empty() && is_last && (was_spent_ || !samples_.are_drawn())) {
    recording_.is_brief = true;
    narrowing = what_can_be_recorded(wanted);
  }
  if (!narrowing.empty()) record_narrowed(narrowing);
  // Ends sampling to save CPU time. If memory starts to grow later, the kernel's counters show the growth, and a brief
  // recording can show its cause.
  if (samples_.are_drawn() && !recording_.began && was_spent_ && !is_last) {
    end_samples_early(", except the part reserved for an exact recording of later growth");
    saw_no_growth_ = wanted.empty();
  }
}

void Watch::record_narrowed(const Narrowing& narrowing) {
  recording_.began = true;
  recording_.setup_begin_ns = monotonic_ns();
  watched_.evidence.narrowing = narrowing;
  RecordOptions options;
  options.output = request_.folder + "/trace.kmt";
  options.no_progress = true;
  options.stacks = needs_stacks(narrowing) ? "kernel" : "";
  options.duration = fmt::format("{:.3f}s", std::max(request_.seconds - seconds(), 1.0));
  options.max_memory = fmt::format("{}", kMostTraceBuffer);
  watched_.trace_has_stacks = !options.stacks.empty();
  try {
    const std::string tracefs = usable_tracefs();
    select_events(narrowing, tracefs, watched_.before, options);
    const RecordRequest request = request_of(options, tracefs);
    RecordOutput output(options, request);
    RecordSteps steps;
    bool is_used_up = false;  // true: the CPU budget is used up
    steps.ended = [&] {
      turn();
      is_used_up = !is_over() && recording_is_over();
      return is_used_up || is_over();
    };
    steps.started = [this] {
      recording_.begin_ns = monotonic_ns();
      recording_.is_on = true;
      if (recording_.ends_samples && samples_.are_drawn()) end_samples_early(", because an exact recording started");
    };
    steps.record = [&](const RecordHooks& hooks, const OpenSink&) {
      RecordHooks counted = hooks;
      // the recording takes no snapshots, because the investigation takes snapshots at its start and end
      counted.completed = {};
      counted.progress = [&](const RecordProgress& now, const std::function<RawRecording()>& recording) {
        recording_.events = now.events + now.lost;
        hooks.progress(now, recording);
      };
      return record(tracefs, request, counted);
    };
    const auto [outcome, written] = run_recording(options, output, steps);
    recording_.is_on = false;
    watched_.recorded_seconds = outcome.seconds;
    watched_.written.emplace_back("trace.kmt");
    if ((is_used_up || outcome.seconds < shortest_recording()) && !watched_.interrupted && outcome.write_error.empty())
      say_why_so_short(outcome.seconds);
    if (!outcome.write_error.empty()) watched_.unseen.push_back({"the end of the recording", outcome.write_error, ""});
    print_notes(outcome);
  } catch (const Error& error) {  // the investigation continues, because the other evidence is still useful
    recording_.is_on = false;
    watched_.unseen.push_back({"an exact recording", error.what(), error.hint()});
  }
}

}  // namespace

WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan,
                           const InterruptGuard& interrupt) {
  outlive_write_signals();
  return Watch(request, plan, interrupt).run();
}

}  // namespace kmt
