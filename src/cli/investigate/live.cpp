// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate/live.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/growth/narrowing.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/bpf/program_clock.hpp"
#include "capture/ftrace/recorder.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/investigate/events.hpp"
#include "cli/investigate/samples.hpp"
#include "cli/investigate/states.hpp"
#include "cli/record/run.hpp"
#include "cli/snapshot/files.hpp"
#include "cli/support/live_kernel.hpp"
#include "results/series/thresholds.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
constexpr std::uint64_t kFirstMeanBytes = 32 << 10;
constexpr std::uint64_t kFewestMeanBytes = 4 << 10;
constexpr std::uint64_t kMostBytesApart = 128 << 10;  // a burst while the rate is measured must not blind it
constexpr double kProbeSeconds = 1;                   // until the rate of samples is known
constexpr double kSecondProbeSeconds = 2;             // then, until it is known whether that was a burst's
constexpr double kFarFiner = 3;                       // worth to begin anew
constexpr double kMostSamplesPerSecond = 5e3;         // as the ring buffer takes while a recording begins
constexpr double kPartForDrawing = 0.5;  // of what may be taken: the rest of what samples cost is empty runs
constexpr double kMostOfReader = 0.25;   // of a CPU: one thread reads samples, and the account beside them
constexpr double kFirstLook = 0.45;      // part of the time until it is decided what is recorded
constexpr double kLastLook = 0.75;
constexpr double kBriefRecordingSeconds = 4;
constexpr double kEnoughForARate = 0.5;  // seconds

constexpr double kMeasured = 0.15;        // seconds in which the kernel takes the time of its programs,
constexpr double kNotMeasured = 2;        // and between those
constexpr double kPartForSamples = 0.25;  // of what may be taken

class Watch {
 public:
  Watch(const LiveInvestigation& request, const InvestigationPlan& plan, const InterruptGuard& interrupt)
      : request_(request), plan_(plan), most_cpu_(most_cpu_seconds(request)), interrupt_(interrupt) {}

  WatchedKernel run() {
    watched_.kernel = describe_running_kernel();
    watched_.kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
    watched_.before = collect_snapshot();
    watched_.start_unix_ns = watched_.before.unix_ns;
    write_snapshot(request_.folder + "/before.kmt", watched_.before, watched_.kernel);
    watched_.written.emplace_back("before.kmt");
    begin_ = Clock::now();
    if (plan_.samples) {
      begin_samples(kFirstMeanBytes, true);
      begin_ = Clock::now();  // loading the programs may have taken long, and is none of the time to watch
    }
    double look = kFirstLook * request_.seconds;
    while (!is_over()) {
      std::this_thread::sleep_for(kPause);
      turn();
      const bool is_spent = sampler_ && is_part_of_samples_spent(cpu_use(), plan_);
      if (is_spent && !std::exchange(was_spent_, true)) look = std::min(look, seconds());
      if (!plan_.trace || recorded_ || seconds() < look || look > kLastLook * request_.seconds) continue;
      look = seconds() + request_.seconds / 10;
      const bool is_last = look > kLastLook * request_.seconds;
      const Narrowing wanted = narrow(evidence());
      Narrowing narrowing = what_can_be_recorded(wanted);
      if (narrowing.empty() && !recorded_ && is_last && (was_spent_ || !sampler_)) {
        is_brief_ = true;
        narrowing = what_can_be_recorded(wanted);
      }
      if (!narrowing.empty()) record_narrowed(narrowing);
      // What grows later the kernel's account tells, and who it is a recording, which may be brief.
      if (sampler_ && !recorded_ && was_spent_ && !is_last) {
        end_samples_early(", the rest being kept for an exact recording of what may grow later");
        saw_no_growth_ = wanted.empty();
      }
    }
    turn();
    if (watched_.interrupted) take_state();  // of a short time each one counts
    InvestigationEvidence last = evidence();
    last.narrowing = watched_.evidence.narrowing;
    watched_.evidence = std::move(last);
    if (sampler_) {
      end_samples();
      std::this_thread::sleep_for(
          kPause);  // their maps shall not be what grew: the kernel takes them back a little later
    }
    if (!not_recorded_.what.empty() && watched_.recorded_seconds == 0) watched_.unseen.push_back(not_recorded_);
    watched_.after = collect_snapshot();
    write_snapshot(request_.folder + "/after.kmt", watched_.after, watched_.kernel);
    watched_.written.emplace_back("after.kmt");
    watched_.cost = {static_cast<double>(own_cpu_ns()) / 1e9,
                     kernel_seconds(),
                     measured_seconds_ > 0,
                     most_cpu_,
                     request_.cpu_share,
                     plan_.cpus};
    return std::move(watched_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double kernel_seconds() const {
    const std::uint64_t samples = earlier_samples_ + (sampler_ ? sampler_->samples() : 0);
    const double of_samples =
        measured_seconds_ > 0 ? programs_seconds_ : static_cast<double>(samples) * kSecondsOfASample;
    return of_samples + static_cast<double>(events_) * seconds_of_an_event(watched_.trace_has_stacks);
  }

  double since_first_state(std::uint64_t ns) const {
    const std::uint64_t first = states_.empty() ? ns : states_.front().ticks;
    return static_cast<double>(ns - std::min(ns, first)) / 1e9;
  }

  double used_cpu() const { return static_cast<double>(own_cpu_ns()) / 1e9 + kernel_seconds(); }
  // Samples go on without the recording.
  bool recording_is_over() const { return sampler_ ? cpu_left() < cpu_of_samples_left() : cpu_left() < 0; }

  CpuUse cpu_use() const {
    const double recorded = recording_ ? static_cast<double>(monotonic_ns() - trace_begin_ns_) / 1e9 : 0;
    // Of less the rate is that of a burst.
    const double events_per_s = static_cast<double>(events_) / std::max(recorded, kEnoughForARate);
    return {seconds(), used_cpu(), events_, recording_, events_per_s, watched_.trace_has_stacks};
  }
  // Beside what is needed until the end at any rate.
  double cpu_left() const { return kmt::cpu_left(cpu_use(), plan_); }
  // Not more than a part of what may be taken: who wants to know more of them takes more.
  double cpu_of_samples_left() const {
    return std::min(programs_per_s_ * (request_.seconds - seconds()), kPartForSamples * most_cpu_);
  }

  bool is_over() {
    if (interrupt_.interrupted()) watched_.interrupted = true;
    return watched_.interrupted || seconds() >= request_.seconds;
  }

  void begin_samples(std::uint64_t mean_bytes, bool pages) {
    sampler_.reset();
    clock_.reset();
    mean_bytes_ = mean_bytes;
    samples_have_pages_ = pages;
    try {
      sampler_ = std::make_unique<InvestigationSamples>(mean_bytes, pages, kernel_, request_.seconds - seconds());
    } catch (const Error& error) {
      watched_.unseen.push_back({"samples of all slab allocations", error.what(), error.hint()});
    }
  }

  void look_at_samples() {
    evidence_of_samples_ = sampler_->seen();
    samples_begin_ns_ = sampler_->begin_ns();
    const double seconds = static_cast<double>(monotonic_ns() - samples_begin_ns_) / 1e9;
    allocations_per_s_ = sampler_->growth().allocations();
    for (auto& [cache, count] : allocations_per_s_) count /= std::max(seconds, 0.1);
  }

  // What they showed has been looked at.
  void end_samples() {
    write_profile(request_.folder + "/profile.kmt", sampler_->forms(), kernel_.symbols());
    watched_.written.emplace_back("profile.kmt");
    const std::vector<UnseenSource> lost = sampler_->unseen();
    watched_.unseen.insert(watched_.unseen.end(), lost.begin(), lost.end());
    earlier_samples_ += sampler_->samples();
    clock_.reset();
    sampler_.reset();
    programs_per_s_ = 0;
  }

  // Where even samples take more than they may, the kernel's account alone is followed until the end.
  void keep_within_budget() {
    if (cpu_left() < 0 && seconds() >= kThresholds.shortest_watch) end_samples_early("");
  }

  void end_samples_early(const char* rest) {
    watched_.unseen.push_back(
        {fmt::format("samples after {:.0f} s", seconds()),
         fmt::format(
             "with the {:.1f} s of CPU time that may be taken they came no further{}: what is allocated here is "
             "looked at for {:.1f} % of this machine's CPU time",
             most_cpu_, rest, 100 * programs_per_s_ / plan_.cpus),
         "--cpu lets it take more"});
    look_at_samples();
    end_samples();
  }

  // What the programs take, by the kernel's clock, which is on now and then.
  void measure() {
    const double now = seconds();
    programs_seconds_ += programs_per_s_ * (now - accounted_until_);
    accounted_until_ = now;
    if (clock_ && now - clock_begin_ >= kMeasured) {
      const ProgramRuns runs = sampler_->runs();
      const double ns = static_cast<double>(runs.ns - runs_begin_.ns);
      if (measured_seconds_ == 0) programs_seconds_ += ns / (now - clock_begin_) / 1e9 * now;
      programs_per_s_ = ns / 1e9 / (now - clock_begin_);
      kfrees_per_s_ = static_cast<double>(sampler_->runs("kfree").runs - kfrees_begin_) / (now - clock_begin_);
      measured_seconds_ += now - clock_begin_;
      clock_.reset();
      clock_begin_ = now + kNotMeasured;
    } else if (!clock_ && now >= clock_begin_) {
      clock_ = std::make_unique<ProgramClock>();
      if (!clock_->is_on()) {
        clock_.reset();
        clock_begin_ = request_.seconds;
      } else {
        clock_begin_ = now;
        runs_begin_ = sampler_->runs();
        kfrees_begin_ = sampler_->runs("kfree").runs;
      }
    }
  }

  // Several times a second, whatever else goes on.
  void turn() {
    if (sampler_) {
      const std::uint64_t begin_ns = own_cpu_ns();
      sampler_->drain();
      reading_seconds_ += static_cast<double>(own_cpu_ns() - begin_ns) / 1e9;
      try {
        measure();
      } catch (const Error&) {  // as where that clock cannot be turned on
        clock_.reset();
        clock_begin_ = request_.seconds;
      }
      tune();
    }
    if (sampler_) keep_within_budget();
    if (seconds() >= next_state_) take_state();
  }

  void take_state() {
    next_state_ = seconds() + next_state_after(seconds(), plan_);
    StateSample state = sample_memory_state();
    const std::uint64_t ring = sampler_ ? sampler_->ring_bytes() : 0;
    add_recorder(state,
                 {.ring_buffers = ring + (recording_ ? kMostTraceBuffer : 0),
                  .bpf_maps = sampler_ ? sampler_->kernel_bytes() - std::min(ring, sampler_->kernel_bytes()) : 0});
    if (auto zones = try_read_file("/proc/zoneinfo")) state.texts.emplace_back("zoneinfo", std::move(*zones));
    state.ticks = monotonic_ns();
    if (const auto point = unaccounted_in(state, watched_.kernel.page_size)) unaccounted_.push_back(*point);
    states_.push_back(std::move(state));
  }

  // When the rate is known: as fine as the budget allows. Once more where that was a burst's, and it can be far finer.
  void tune() {
    const double sampled = static_cast<double>(monotonic_ns() - sampler_->begin_ns()) / 1e9;
    // Not beside a recording: loading the programs would keep its end waiting.
    if (tuned_ == 2 || (tuned_ == 1 && recorded_) || sampled < (tuned_ == 0 ? kProbeSeconds : kSecondProbeSeconds))
      return;
    const bool is_first = tuned_++ == 0;
    const bool pages = is_first ? can_sample_pages(programs_per_s_, cpu_left(), plan_) : samples_have_pages_;
    const auto drawn = static_cast<double>(sampler_->samples());
    const double read = std::max(drawn + static_cast<double>(earlier_samples_), 1.0);
    const double left = std::max(cpu_left(), 0.0) / std::max(request_.seconds - seconds(), kProbeSeconds);
    const double affordable = kPartForDrawing * left / (kSecondsOfASample + reading_seconds_ / read);
    const double readable = kMostOfReader * read / std::max(reading_seconds_, 1e-6);
    const double allowed = std::max(std::min({affordable, kMostSamplesPerSecond, readable}), 1.0);
    const auto mean = static_cast<double>(mean_bytes_);
    const double wanted = std::clamp(mean * drawn / sampled / allowed, static_cast<double>(kFewestMeanBytes),
                                     static_cast<double>(kMostBytesApart));
    if (is_first ? pages && wanted > mean / 2 && wanted < mean * 3 / 2 : wanted > mean / kFarFiner) return;
    earlier_samples_ += sampler_->samples();
    begin_samples(static_cast<std::uint64_t>(wanted), pages);
    if (is_first && !pages)
      watched_.unseen.push_back({"who takes pages straight from the page allocator",
                                 "looking at these too would take more CPU time than may be taken",
                                 "--cpu lets it take more"});
  }

  InvestigationEvidence evidence() {
    InvestigationEvidence evidence;
    // Ending a recording may last longer: what samples are asked for is no shorter for it.
    evidence.seconds = std::min(seconds(), request_.seconds);
    evidence.threshold_bytes_per_s = request_.threshold_bytes_per_s;
    evidence.states = states_over_time(states_, watched_.kernel.page_size, unaccounted_);
    if (sampler_) look_at_samples();
    evidence.samples = evidence_of_samples_;
    if (trace_begin_ns_ > samples_begin_ns_)
      evidence.trace_begin_seconds = static_cast<double>(trace_begin_ns_ - samples_begin_ns_) / 1e9;
    if (trace_begin_ns_ > 0) {
      evidence.setup_begin_seconds = since_first_state(setup_begin_ns_);
      evidence.setup_end_seconds = since_first_state(trace_begin_ns_);
    }
    return evidence;
  }

  Narrowing what_can_be_recorded(const Narrowing& wanted);
  double cpu_to_record(const Narrowing& narrowing) const;  // in seconds, for long enough
  bool needs_stacks(const Narrowing& narrowing) const;
  double events_per_s(const Narrowing& narrowing) const;
  void record_narrowed(const Narrowing& narrowing);
  // That tells anything, in seconds.
  double shortest_recording() const {
    return std::max(kThresholds.shortest_recording * request_.seconds, kThresholds.shortest_recording_seconds);
  }
  void say_why_so_short(double recorded_seconds);

  const LiveInvestigation& request_;
  const InvestigationPlan& plan_;
  double most_cpu_;
  const InterruptGuard& interrupt_;
  LiveKernel kernel_;
  WatchedKernel watched_;
  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<InvestigationSamples> sampler_;
  std::uint64_t earlier_samples_ = 0;
  std::optional<GrowthSeen> evidence_of_samples_;
  std::uint64_t samples_begin_ns_ = 0;
  std::map<std::string, double> allocations_per_s_;  // by cache, by these samples
  std::uint64_t mean_bytes_ = 0;                     // of samples
  bool samples_have_pages_ = false;
  int tuned_ = 0;               // times
  double reading_seconds_ = 0;  // CPU time, of samples until that
  std::unique_ptr<ProgramClock> clock_;
  double clock_begin_ = 0;  // when it was turned on, or will be; seconds
  ProgramRuns runs_begin_;
  std::uint64_t kfrees_begin_ = 0;
  double measured_seconds_ = 0;
  double programs_per_s_ = 0;    // CPU time
  double kfrees_per_s_ = 0;      // 0: not known
  double programs_seconds_ = 0;  // likewise, in all
  double accounted_until_ = 0;
  UnseenSource not_recorded_;  // why nothing was, where something grows
  std::vector<StateSample> states_;
  std::vector<MemorySeriesPoint> unaccounted_;  // in these
  double next_state_ = 0;
  bool was_spent_ = false;      // the part of samples
  bool saw_no_growth_ = false;  // when samples ended
  bool is_brief_ = false;       // a recording that tells who holds what grows, if not how that goes
  bool ends_samples_ = false;   // the recording that begins
  bool said_single_pages_ = false;
  bool recorded_ = false;
  bool recording_ = false;
  std::uint64_t setup_begin_ns_ = 0;  // of the recording
  std::uint64_t trace_begin_ns_ = 0;
  std::uint64_t events_ = 0;
};

// Frees of kmalloc name no size, those of pages not what they are part of, and before Linux 6.1 those of caches no
// cache: all of them are recorded.
double Watch::events_per_s(const Narrowing& narrowing) const {
  const auto per_s = [this](const std::function<bool(const std::string&)>& counts) {
    double sum = 0;
    for (const auto& [cache, allocations] : allocations_per_s_)
      if (counts(cache)) sum += allocations;
    return sum;
  };
  const auto is_kmalloc = [](const std::string& cache) { return cache.starts_with("kmalloc-"); };
  double events = per_s([&](const std::string& cache) { return narrowing.has(cache); });
  if (!narrowing.sizes.empty()) events += kfrees_per_s_ > 0 ? kfrees_per_s_ : per_s(is_kmalloc);
  if (!narrowing.orders.empty()) events += page_frees_per_s(states_);
  Narrowing named;
  named.caches = narrowing.caches;
  events += per_s([&](const std::string& cache) {
    return narrowing.object_sizes.empty() ? named.has(cache) : !is_kmalloc(cache) && !cache.starts_with("pages");
  });
  return events;
}

// Only what can be recorded for long enough to show growth is; else samples have to do.
Narrowing Watch::what_can_be_recorded(const Narrowing& wanted) {
  if (wanted.empty() || !evidence_of_samples_) return wanted;
  const double beside = cpu_left() - kSecondsToRecord - cpu_of_samples_left();
  // Where samples have spent their part they make room for it.
  const double instead = cpu_left() - kSecondsToRecord - (sampler_ ? kSecondsToEndSamples : 0);
  const RecordingChoice choice = choose_recording(wanted, beside, was_spent_ ? instead : beside,
                                                  [this](const Narrowing& of) { return cpu_to_record(of); });
  ends_samples_ = choice.ends_samples;
  if (choice.rest.orders.size() < wanted.orders.size() && !std::exchange(said_single_pages_, true))
    watched_.unseen.push_back(
        {"an exact recording of single pages", "of the whole machine they are too many: samples tell of them", ""});
  if (choice.of.empty() && !choice.rest.empty())
    not_recorded_ = {"an exact recording of what may grow",
                     fmt::format("{} there is no CPU time left for long enough a one of some {:.0f} events a second",
                                 sampler_ ? "beside samples" : "after samples", events_per_s(choice.rest)),
                     "--cpu lets it take more"};
  return choice.of;
}

// Samples have the stacks of slabs' call sites, unless they ended before these grew; of pages many call sites are one.
bool Watch::needs_stacks(const Narrowing& narrowing) const {
  return !(sampler_ || evidence_of_samples_) || (saw_no_growth_ && !is_brief_) || narrowing.pages ||
         !narrowing.orders.empty();
}

double Watch::cpu_to_record(const Narrowing& narrowing) const {
  const double seconds =
      is_brief_ ? kBriefRecordingSeconds : std::max(2 * kThresholds.shortest_recording * request_.seconds, 1.0);
  return seconds * (kSecondsOfRecording + events_per_s(narrowing) * whole_seconds_of_an_event(needs_stacks(narrowing)));
}

void Watch::say_why_so_short(double recorded_seconds) {
  const bool tells = recorded_seconds >= shortest_recording();
  watched_.unseen.push_back(
      {tells ? "growth after the recording, exactly" : "growth in the recording",
       fmt::format("it had to end after {:.1f} s, {}", recorded_seconds,
                   tells
                       ? fmt::format("{:.1f} s before the time was over: more would have taken more CPU time than may "
                                     "be taken",
                                     request_.seconds - seconds())
                       : "too soon to tell what grows from what lives longer"),
       "--cpu lets it take more"});
}

void Watch::record_narrowed(const Narrowing& narrowing) {
  recorded_ = true;
  setup_begin_ns_ = monotonic_ns();
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
    bool is_used_up = false;  // what may be taken
    steps.ended = [&] {
      turn();
      is_used_up = !is_over() && recording_is_over();
      return is_used_up || is_over();
    };
    steps.started = [this] {
      trace_begin_ns_ = monotonic_ns();
      recording_ = true;
      if (ends_samples_ && sampler_) end_samples_early(" beside an exact recording");
    };
    steps.record = [&](const RecordHooks& hooks, const OpenSink&) {
      RecordHooks counted = hooks;
      counted.completed = {};  // snapshots at begin and end are there
      counted.progress = [&](const RecordProgress& now, const std::function<RawRecording()>& recording) {
        events_ = now.events + now.lost;
        hooks.progress(now, recording);
      };
      return record(tracefs, request, counted);
    };
    const auto [outcome, written] = run_recording(options, output, steps);
    recording_ = false;
    watched_.recorded_seconds = outcome.seconds;
    watched_.written.emplace_back("trace.kmt");
    if ((is_used_up || outcome.seconds < shortest_recording()) && !watched_.interrupted && outcome.write_error.empty())
      say_why_so_short(outcome.seconds);
    if (!outcome.write_error.empty()) watched_.unseen.push_back({"the end of the recording", outcome.write_error, ""});
    print_notes(outcome);
  } catch (const Error& error) {  // what was seen otherwise is worth telling
    recording_ = false;
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
