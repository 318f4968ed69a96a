// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_live.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "analysis/conclusion.hpp"
#include "analysis/heap_profile.hpp"
#include "analysis/investigation.hpp"
#include "analysis/memory_series.hpp"
#include "analysis/sample_growth.hpp"
#include "analysis/slabinfo_line.hpp"
#include "analysis/snapshot.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "capture/bpf/heap.hpp"
#include "capture/bpf/program_clock.hpp"
#include "capture/features/bpf_support.hpp"
#include "capture/features/capabilities.hpp"
#include "capture/features/events.hpp"
#include "capture/sideband/kernel_facts.hpp"
#include "capture/sideband/memory_state.hpp"
#include "capture/sideband/process_facts.hpp"
#include "capture/tracefs/tracefs.hpp"
#include "cli/interrupt.hpp"
#include "cli/investigate_states.hpp"
#include "cli/live_kernel.hpp"
#include "cli/record_run.hpp"
#include "cli/snapshot_files.hpp"
#include "snapshot/collect.hpp"

namespace kmt {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
constexpr std::uint64_t kFirstMeanBytes = 32 << 10;
constexpr std::uint64_t kFewestMeanBytes = 4 << 10;
constexpr std::uint64_t kMostBytesApart = 128 << 10;  // a burst while the rate is measured must not blind it
constexpr double kProbeSeconds = 1;                   // until the rate of samples is known
constexpr double kStates = 60;                        // samples of the kernel's account, at least
constexpr double kMostStates = 400;
constexpr double kMostSamplesPerSecond = 10e3;  // as the ring buffer takes while it is read ten times a second
constexpr double kLongestState = 2;             // seconds, in short watches: so that Ctrl+C leaves enough of them
constexpr double kFirstLook = 0.45;             // part of the time until it is decided what is recorded
constexpr double kLastLook = 0.75;
constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// What is taken in the kernel, of CPU time: upper ends of what bench/watching and bench/overhead show on x86-64.
constexpr double kSecondsOfASample = 4e-6;
constexpr double kSecondsOfAnEvent = 0.4e-6;
constexpr double kSecondsOfAStack = 1.6e-6;
constexpr double kSecondsOfReading = 0.3e-6;  // an event of a recording, here
constexpr double kMeasured = 0.15;            // seconds in which the kernel takes the time of its programs,
constexpr double kNotMeasured = 2;            // and between those
// What beginning and ending cost at any rate: loading programs, two snapshots, names; reading a recording, the page.
constexpr double kFixedSeconds = 0.8;
constexpr double kSecondsOfAState = 3e-3;
constexpr double kSecondsAtTheEnd = 0.4;  // of these
constexpr double kSecondsToRecord = 0.2;  // to begin a recording
constexpr double kPartForSamples = 0.25;  // of what may be taken

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }
double state_interval(double seconds) {
  const double interval = std::clamp(seconds / kStates, 0.1, kLongestState);
  return std::max(interval, seconds / kMostStates);
}

unsigned cpus_online() { return static_cast<unsigned>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)); }

double most_cpu_seconds(const LiveInvestigation& request) {
  return std::max(request.cpu_share * request.seconds * cpus_online(), 2 * kFixedSeconds);
}

// Where version 1 accounts memory, all are in the root of version 2, which BPF programs see.
void name_memory_cgroups(GrowthSeen& seen) {
  std::unordered_map<std::uint32_t, std::string> known;
  for (GrowthGroup& group : seen.groups) {
    if (group.cgroup != "/" || group.process == 0) continue;
    const auto [found, is_new] = known.try_emplace(group.process);
    if (is_new) found->second = memory_cgroup_of(group.process);
    if (!found->second.empty()) group.cgroup = found->second;
  }
}

// Samples, followed as long as they live.
class Sampler {
 public:
  Sampler(std::uint64_t mean_bytes, bool pages, LiveKernel& kernel, double seconds)
      : mean_bytes_(mean_bytes),
        pages_(pages),
        begin_ns_(now_ns()),
        begin_unix_ns_(unix_ns()),
        growth_(mean_bytes, pages, kernel.symbols(), begin_ns_, seconds, static_cast<std::uint32_t>(::getpid()),
                page_bytes()),
        profile_(mean_bytes, kernel.symbols(), [&kernel](std::uint64_t id) { return kernel.cgroup_name(id); }),
        kernel_(kernel),
        watcher_(request_of(mean_bytes, pages), {[this](const HeapSample& sample) {
                                                   growth_.add(sample);
                                                   profile_.add(sample);
                                                 },
                                                 [this](const HeapSampleEnd& end) {
                                                   growth_.end(end);
                                                   profile_.end(end);
                                                 }}) {
    begin_ns_ = now_ns();  // loading the programs may have taken seconds
    growth_.begin(begin_ns_);
  }

  void drain() { watcher_.drain(); }
  std::uint64_t samples() const { return growth_.samples(); }
  ProgramRuns runs() const { return watcher_.runs(); }
  const SampleGrowth& growth() const { return growth_; }
  std::vector<UnseenSource> unseen() const { return unseen_of(watcher_.losses(), growth_.not_kept()); }
  std::uint64_t begin_ns() const { return begin_ns_; }
  std::uint64_t kernel_bytes() const { return watcher_.memory(); }
  GrowthSeen seen() {
    watcher_.drain();
    if (watcher_.losses().ends > 0)
      growth_.reconcile(now_ns(), [this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
    GrowthSeen seen =
        growth_.seen(now_ns(), LiveKernel::release(), [this](std::uint64_t id) { return kernel_.cgroup_name(id); });
    name_memory_cgroups(seen);
    return seen;
  }
  HeapProfileForms forms() {
    if (watcher_.losses().ends > 0)
      profile_.reconcile([this](std::uint64_t pointer) { return watcher_.is_followed(pointer); });
    HeapProfileForms forms{profile_.result({HeapKey::stack}), profile_.drawn()};
    HeapProfileFacts& facts = forms.result;
    facts.kernel = LiveKernel::release();
    if (pages_) facts.selection = "the whole machine, of pages those that no user has";
    facts.start_unix_ns = begin_unix_ns_;
    facts.duration_ns = now_ns() - begin_ns_;
    facts.losses = watcher_.losses();
    facts.memory = watcher_.memory();
    facts.own_cpu_ns = own_cpu_ns();
    static_cast<HeapProfileFacts&>(forms.drawn) = facts;
    forms.drawn.mean_bytes = mean_bytes_;
    forms.result.has_pages = forms.drawn.has_pages = pages_;
    return forms;
  }

 private:
  static HeapRequest request_of(std::uint64_t mean_bytes, bool pages) {
    HeapRequest request;
    request.pages = request.no_movable_pages = pages;
    request.mean_bytes = mean_bytes;
    return request;
  }
  static std::uint64_t unix_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  }

  std::uint64_t mean_bytes_;
  bool pages_;
  std::uint64_t begin_ns_;
  std::uint64_t begin_unix_ns_;
  SampleGrowth growth_;
  HeapProfile profile_;
  LiveKernel& kernel_;
  HeapWatcher watcher_;
};

class Watch {
 public:
  Watch(const LiveInvestigation& request, const InvestigationPlan& plan)
      : request_(request), plan_(plan), most_cpu_(most_cpu_seconds(request)) {}

  WatchedKernel run() {
    watched_.kernel = describe_running_kernel();
    watched_.kernel.notes["recorder"] = "kmemtrace " KMEMTRACE_VERSION;
    watched_.before = collect_snapshot();
    watched_.start_unix_ns = watched_.before.unix_ns;
    write_snapshot(request_.folder + "/before.kmt", watched_.before, watched_.kernel);
    watched_.written.emplace_back("before.kmt");
    begin_ = Clock::now();
    if (plan_.samples) begin_samples(kFirstMeanBytes, true);
    double look = kFirstLook * request_.seconds;
    while (!is_over()) {
      std::this_thread::sleep_for(kPause);
      turn();
      if (!plan_.trace || recorded_ || seconds() < look || look > kLastLook * request_.seconds) continue;
      look = seconds() + request_.seconds / 10;
      const Narrowing narrowing = what_can_be_recorded(narrow(evidence()));
      if (!narrowing.empty()) record_narrowed(narrowing);
    }
    turn();
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
    watched_.cost = {static_cast<double>(own_cpu_ns()) / 1e9, kernel_seconds(), measured_seconds_ > 0, cpus_online()};
    return std::move(watched_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double kernel_seconds() const {
    const std::uint64_t samples = earlier_samples_ + (sampler_ ? sampler_->samples() : 0);
    const double of_samples =
        measured_seconds_ > 0 ? programs_seconds_ : static_cast<double>(samples) * kSecondsOfASample;
    return of_samples + static_cast<double>(events_) * seconds_of_an_event();
  }
  double seconds_of_an_event() const { return kSecondsOfAnEvent + (watched_.trace_has_stacks ? kSecondsOfAStack : 0); }

  double used_cpu() const { return static_cast<double>(own_cpu_ns()) / 1e9 + kernel_seconds(); }
  // Samples go on without the recording.
  bool recording_is_over() const { return sampler_ ? cpu_left() < cpu_of_samples_left() : cpu_left() < 0; }

  // Beside what is needed until the end at any rate.
  double cpu_left() const {
    const double states = std::max(request_.seconds - seconds(), 0.0) / plan_.state_interval;
    return most_cpu_ - used_cpu() - kSecondsAtTheEnd - states * kSecondsOfAState;
  }
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
    try {
      sampler_ = std::make_unique<Sampler>(mean_bytes, pages, kernel_, request_.seconds - seconds());
    } catch (const Error& error) {
      watched_.unseen.push_back({"samples of all slab allocations", error.what(), error.hint()});
    }
  }

  void look_at_samples() {
    evidence_of_samples_ = sampler_->seen();
    samples_begin_ns_ = sampler_->begin_ns();
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
    if (cpu_left() >= 0 || seconds() < kShortestToTell) return;
    watched_.unseen.push_back(
        {fmt::format("samples after {:.0f} s", seconds()),
         fmt::format("with the {:.1f} s of CPU time that may be taken they came no further: what is allocated here is "
                     "looked at for {:.1f} % of this machine's CPU time",
                     most_cpu_, 100 * programs_per_s_ / cpus_online()),
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
      }
    }
  }

  // Several times a second, whatever else goes on.
  void turn() {
    if (sampler_) {
      sampler_->drain();
      try {
        measure();
      } catch (const Error&) {  // as where that clock cannot be turned on
        clock_.reset();
        clock_begin_ = request_.seconds;
      }
      tune();
    }
    if (sampler_) keep_within_budget();
    if (seconds() < next_state_) return;
    next_state_ = seconds() + plan_.state_interval;
    StateSample state = sample_memory_state();
    add_recorder(state, {.ring_buffers = recording_ ? kMostTraceBuffer : 0,
                         .bpf_maps = sampler_ ? sampler_->kernel_bytes() : 0});
    if (auto zones = try_read_file("/proc/zoneinfo")) state.texts.emplace_back("zoneinfo", std::move(*zones));
    state.ticks = now_ns();
    states_.push_back(std::move(state));
  }

  // Once, when the rate is known: as fine as the budget allows.
  void tune() {
    if (tuned_ || seconds() < kProbeSeconds) return;
    tuned_ = true;
    // Pages are looked at where that lets slabs be looked at until the end.
    const bool pages = programs_per_s_ * request_.seconds <= std::max(cpu_left(), 0.0) * 2;
    const double affordable =
        kPartForSamples * std::max(most_cpu_ - kFixedSeconds, most_cpu_ / 4) / request_.seconds / kSecondsOfASample;
    const double allowed = std::min(affordable, kMostSamplesPerSecond);
    const double rate = static_cast<double>(sampler_->samples()) / seconds();
    const double wanted = static_cast<double>(kFirstMeanBytes) * rate / allowed;
    const auto mean = static_cast<std::uint64_t>(
        std::clamp(wanted, static_cast<double>(kFewestMeanBytes), static_cast<double>(kMostBytesApart)));
    if (pages && mean > kFirstMeanBytes / 2 && mean < kFirstMeanBytes * 3 / 2) return;
    earlier_samples_ = sampler_->samples();
    begin_samples(mean, pages);
    if (!pages)
      watched_.unseen.push_back({"who takes pages straight from the page allocator",
                                 "looking at these too would take more CPU time than may be taken",
                                 "--cpu lets it take more"});
  }

  InvestigationEvidence evidence() {
    InvestigationEvidence evidence;
    evidence.seconds = seconds();
    evidence.threshold_bytes_per_s = request_.threshold_bytes_per_s;
    evidence.states = states_over_time(states_, watched_.kernel.page_size);
    if (sampler_) look_at_samples();
    evidence.samples = evidence_of_samples_;
    if (trace_begin_ns_ > samples_begin_ns_)
      evidence.trace_begin_seconds = static_cast<double>(trace_begin_ns_ - samples_begin_ns_) / 1e9;
    return evidence;
  }

  Narrowing what_can_be_recorded(Narrowing narrowing);
  double events_per_s(const Narrowing& narrowing) const;
  void record_narrowed(const Narrowing& narrowing);

  const LiveInvestigation& request_;
  const InvestigationPlan& plan_;
  double most_cpu_;
  InterruptGuard interrupt_{SecondSignal::is_ignored};
  LiveKernel kernel_;
  WatchedKernel watched_;
  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<Sampler> sampler_;
  std::uint64_t earlier_samples_ = 0;
  std::optional<GrowthSeen> evidence_of_samples_;
  std::uint64_t samples_begin_ns_ = 0;
  bool tuned_ = false;
  std::unique_ptr<ProgramClock> clock_;
  double clock_begin_ = 0;  // when it was turned on, or will be; seconds
  ProgramRuns runs_begin_;
  double measured_seconds_ = 0;
  double programs_per_s_ = 0;    // CPU time
  double programs_seconds_ = 0;  // likewise, in all
  double accounted_until_ = 0;
  UnseenSource not_recorded_;  // why nothing was, where something grows
  std::vector<StateSample> states_;
  double next_state_ = 0;
  bool recorded_ = false;
  bool recording_ = false;
  std::uint64_t trace_begin_ns_ = 0;
  std::uint64_t events_ = 0;
};

// Frees of kmalloc name no size, and before Linux 6.1 those of caches no cache: all of them are recorded.
double Watch::events_per_s(const Narrowing& narrowing) const {
  const auto per_s = [this](const std::function<bool(const std::string&)>& counts) {
    const double begin = static_cast<double>(sampler_->begin_ns());
    return sampler_->growth().allocations_of(counts) / std::max((static_cast<double>(now_ns()) - begin) / 1e9, 0.1);
  };
  const auto is_kmalloc = [](const std::string& cache) { return cache.starts_with("kmalloc-"); };
  double events = per_s([&](const std::string& cache) { return narrowing.has(cache); });
  if (!narrowing.sizes.empty()) events += per_s(is_kmalloc);
  Narrowing named;
  named.caches = narrowing.caches;
  events += per_s([&](const std::string& cache) {
    return narrowing.object_sizes.empty() ? named.has(cache) : !is_kmalloc(cache) && !cache.starts_with("pages");
  });
  return events;
}

// Only what can be recorded for long enough to show growth is; else samples have to do.
Narrowing Watch::what_can_be_recorded(Narrowing narrowing) {
  if (narrowing.empty()) return narrowing;
  if (!sampler_ && evidence_of_samples_) {  // they ended for what they cost
    not_recorded_ = {"an exact recording of what may grow", "samples have used up the CPU time that may be taken",
                     "--cpu lets it take more"};
    return {};
  }
  if (!sampler_) return narrowing;
  narrowing.pages = false;  // pages of the whole machine with their stacks cost too much; samples have them
  const double needed = std::max(2 * kShortestRecording * request_.seconds, 1.0);
  const double left = cpu_left() - cpu_of_samples_left() - kSecondsToRecord;
  const auto lasts = [&](const Narrowing& of) {
    return !of.empty() && left >= needed * events_per_s(of) * (kSecondsOfAnEvent + kSecondsOfReading);
  };
  if (narrowing.empty() || lasts(narrowing)) return narrowing;
  Narrowing caches;
  caches.caches = narrowing.caches;
  if (lasts(caches)) return caches;
  not_recorded_ = {"an exact recording of what may grow",
                   fmt::format("beside samples there is no CPU time left for long enough a one of some {:.0f} events a "
                               "second",
                               events_per_s(narrowing)),
                   "--cpu lets it take more"};
  return {};
}

std::string any_of(const char* field, const std::vector<std::string>& values) {
  std::vector<std::string> terms;
  terms.reserve(values.size());
  for (const std::string& value : values) terms.push_back(fmt::format("{} == {}", field, value));
  return fmt::format("{}", fmt::join(terms, " || "));
}

// Bytes of an object with padding, by slabinfo: what kernels that do not name caches where they allocate are asked for.
std::vector<std::string> object_bytes(const std::vector<std::string>& caches, const StateSample& snapshot) {
  std::vector<std::string> sizes;
  for (const std::string_view line : split(text_of(snapshot, "slabinfo"), '\n'))
    if (const auto cache = parse_slabinfo_line(line); cache && std::ranges::find(caches, cache->name) != caches.end())
      sizes.push_back(fmt::format("{:.0f}", cache->object_bytes));
  return sizes;
}

// The events of what the recording is narrowed to, each with its filter.
void select_events(const Narrowing& narrowing, const std::string& tracefs, const StateSample& snapshot,
                   RecordOptions& options) {
  const std::vector<EventName> available = available_events(tracefs);
  const auto add = [&](const char* name, const std::string& filter) {
    const EventName event{std::string(name).substr(0, std::string_view(name).find(':')),
                          std::string(name).substr(std::string_view(name).find(':') + 1)};
    if (std::ranges::find(available, event) == available.end()) return;
    options.events.emplace_back(name);
    if (!filter.empty()) options.filters.push_back(fmt::format("{}:{}", name, filter));
  };
  const auto names_caches = [&](const char* event) {
    const std::string format = try_read_file(fmt::format("{}/events/kmem/{}/format", tracefs, event)).value_or("");
    return format.find(" name;") != std::string::npos;
  };
  if (!narrowing.caches.empty() || !narrowing.object_sizes.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& cache : narrowing.caches) quoted.push_back('"' + cache + '"');
    const std::string by_name = any_of("name", quoted);
    std::vector<std::string> sizes = object_bytes(narrowing.caches, snapshot);
    for (const std::uint64_t size : narrowing.object_sizes) sizes.push_back(std::to_string(size));
    const bool is_named = !quoted.empty() && names_caches("kmem_cache_alloc");
    // All objects of all caches would be too many.
    if (const std::string allocated = is_named ? by_name : any_of("bytes_alloc", sizes); !allocated.empty()) {
      add("kmem:kmem_cache_alloc", allocated);
      add("kmem:kmem_cache_alloc_node", allocated);
      add("kmem:kmem_cache_free", is_named && names_caches("kmem_cache_free") ? by_name : "");
    }
  }
  if (!narrowing.sizes.empty()) {
    std::vector<std::string> sizes;
    for (const std::uint64_t size : narrowing.sizes) sizes.push_back(std::to_string(size));
    add("kmem:kmalloc", any_of("bytes_alloc", sizes));
    add("kmem:kmalloc_node", any_of("bytes_alloc", sizes));
    add("kmem:kfree", "");
  }
  if (narrowing.pages) {
    add("kmem:mm_page_alloc", "!(gfp_flags & 8)");  // __GFP_MOVABLE, of users' memory and the page cache
    add("kmem:mm_page_free", "");
    add("kmem:mm_page_free_batched", "");
  }
  if (options.events.empty())
    throw Error("Before Linux 6.1 trace events name no cache, and without slabinfo its size is not known");
  // Names and processes of tasks.
  add("task:task_newtask", "");
  add("task:task_rename", "");
}

void Watch::record_narrowed(const Narrowing& narrowing) {
  recorded_ = true;
  watched_.evidence.narrowing = narrowing;
  RecordOptions options;
  options.output = request_.folder + "/trace.kmt";
  options.no_progress = true;
  options.stacks = !sampler_ || watched_.evidence.narrowing.pages ? "kernel" : "";
  options.duration = fmt::format("{:.3f}s", std::max(request_.seconds - seconds(), 1.0));
  options.max_memory = fmt::format("{}", kMostTraceBuffer);
  watched_.trace_has_stacks = !options.stacks.empty();
  try {
    const std::string tracefs = usable_tracefs();
    select_events(narrowing, tracefs, watched_.before, options);
    const RecordRequest request = request_of(options, tracefs);
    RecordOutput output(options, request);
    RecordSteps steps;
    steps.ended = [this] {
      turn();
      return is_over() || recording_is_over();
    };
    steps.started = [this] {
      trace_begin_ns_ = now_ns();
      recording_ = true;
    };
    steps.record = [&](const RecordHooks& hooks, const OpenSink&) {
      RecordHooks counted = hooks;
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
    if (outcome.seconds < std::max(kShortestRecording * request_.seconds, kShortestRecordingSeconds) &&
        !watched_.interrupted && outcome.write_error.empty())
      watched_.unseen.push_back({"growth in the recording",
                                 fmt::format("it had to end after {:.1f} s, too soon to tell what grows from what "
                                             "lives longer",
                                             outcome.seconds),
                                 "--cpu lets it take more"});
    if (!outcome.write_error.empty()) watched_.unseen.push_back({"the end of the recording", outcome.write_error, ""});
    print_notes(outcome);
  } catch (const Error& error) {  // what was seen otherwise is worth telling
    recording_ = false;
    watched_.unseen.push_back({"an exact recording", error.what(), error.hint()});
  }
}

}  // namespace

InvestigationPlan plan_investigation(const LiveInvestigation& request) {
  InvestigationPlan plan;
  plan.seconds = request.seconds;
  plan.state_interval = state_interval(request.seconds);
  plan.cpu_share = request.cpu_share;
  plan.cpus = cpus_online();
  plan.most_cpu_seconds = most_cpu_seconds(request);
  const BpfSupport bpf = bpf_support();
  plan.samples = bpf.missing.empty();
  if (!plan.samples) plan.unseen.push_back({"samples of all slab allocations", bpf.missing, bpf.way_out});
  const TracefsMount mount = find_tracefs();
  plan.trace = mount.path.empty() ? mount.mountable : probe_capabilities(mount).can_record();
  if (!plan.trace)
    plan.unseen.push_back(
        {"exact recordings", mount.path.empty() ? mount.reason : probe_capabilities(mount).why_not(), ""});
  plan.trace_stacks = plan.trace && !plan.samples;
  if (::access("/proc/slabinfo", R_OK) != 0)
    plan.unseen.push_back({"the kernel's account of slab caches", "/proc/slabinfo cannot be read", "run it as root"});
  if (!plan.samples && !plan.trace)
    plan.unseen.push_back({"who allocates", "neither BPF programs nor trace events can be used here",
                           "`kmemtrace list` says what is missing"});
  const double states = request.seconds / plan.state_interval * kSecondsOfAState;
  plan.least_cpu_seconds = kSecondsAtTheEnd + states + (plan.samples ? kFixedSeconds - kSecondsAtTheEnd : 0);
  plan.kernel_bytes = (plan.samples ? 10u << 20 : 0) + (plan.trace ? kMostTraceBuffer : 0);
  return plan;
}

WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan) {
  outlive_write_signals();
  return Watch(request, plan).run();
}

}  // namespace kmt
