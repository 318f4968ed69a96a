// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/investigate_live.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

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
constexpr std::size_t kStates = 60;                   // samples of the kernel's account
constexpr double kFirstLook = 0.45;                   // part of the time until it is decided what is recorded
constexpr double kLastLook = 0.75;
constexpr std::uint64_t kMostTraceBuffer = 32 << 20;

// What is taken in the kernel, of CPU time: upper ends of what bench/watching and bench/overhead show on x86-64.
constexpr double kSecondsOfASample = 4e-6;
constexpr double kSecondsOfAnEvent = 0.4e-6;
constexpr double kSecondsOfAStack = 1.6e-6;
// What beginning and ending cost at any rate: loading programs, two snapshots, names.
constexpr double kFixedSeconds = 0.8;
constexpr double kSecondsOfAState = 3e-3;
constexpr double kSecondsAtTheEnd = 0.2;
constexpr double kPartForSamples = 0.25;  // of what may be taken

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

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
  Sampler(std::uint64_t mean_bytes, LiveKernel& kernel, double seconds)
      : mean_bytes_(mean_bytes),
        begin_ns_(now_ns()),
        begin_unix_ns_(unix_ns()),
        growth_(mean_bytes, kernel.symbols(), begin_ns_, seconds, static_cast<std::uint32_t>(::getpid()), page_bytes()),
        profile_(mean_bytes, kernel.symbols(), [&kernel](std::uint64_t id) { return kernel.cgroup_name(id); }),
        kernel_(kernel),
        watcher_(request_of(mean_bytes), {[this](const HeapSample& sample) {
                                            growth_.add(sample);
                                            profile_.add(sample);
                                          },
                                          [this](const HeapSampleEnd& end) {
                                            growth_.end(end);
                                            profile_.end(end);
                                          }}) {}

  void drain() { watcher_.drain(); }
  std::uint64_t samples() const { return growth_.samples(); }
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
    facts.start_unix_ns = begin_unix_ns_;
    facts.duration_ns = now_ns() - begin_ns_;
    facts.losses = watcher_.losses();
    facts.memory = watcher_.memory();
    facts.own_cpu_ns = own_cpu_ns();
    static_cast<HeapProfileFacts&>(forms.drawn) = facts;
    forms.drawn.mean_bytes = mean_bytes_;
    return forms;
  }

 private:
  static HeapRequest request_of(std::uint64_t mean_bytes) {
    HeapRequest request;
    request.mean_bytes = mean_bytes;
    return request;
  }
  static std::uint64_t unix_ns() {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  }

  std::uint64_t mean_bytes_;
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
    if (plan_.samples) begin_samples(kFirstMeanBytes);
    cpu_at_begin_ns_ = own_cpu_ns();
    double look = kFirstLook * request_.seconds;
    while (!is_over()) {
      std::this_thread::sleep_for(kPause);
      turn();
      if (!plan_.trace || recorded_ || seconds() < look || look > kLastLook * request_.seconds) continue;
      look = seconds() + request_.seconds / 10;
      watched_.evidence.narrowing = narrow(evidence());
      if (!watched_.evidence.narrowing.empty()) record_narrowed();
    }
    turn();
    InvestigationEvidence last = evidence();
    last.narrowing = watched_.evidence.narrowing;
    watched_.evidence = std::move(last);
    if (sampler_) {
      write_profile(request_.folder + "/profile.kmt", sampler_->forms(), kernel_.symbols());
      watched_.written.emplace_back("profile.kmt");
      const std::vector<UnseenSource> lost = sampler_->unseen();
      watched_.unseen.insert(watched_.unseen.end(), lost.begin(), lost.end());
      // Its maps shall not be what grew. The kernel takes them back a little later.
      earlier_samples_ += sampler_->samples();
      sampler_.reset();
      std::this_thread::sleep_for(kPause);
    }
    watched_.after = collect_snapshot();
    write_snapshot(request_.folder + "/after.kmt", watched_.after, watched_.kernel);
    watched_.written.emplace_back("after.kmt");
    watched_.cost = {static_cast<double>(own_cpu_ns()) / 1e9, kernel_seconds(), cpus_online()};
    return std::move(watched_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  double kernel_seconds() const {
    const std::uint64_t samples = earlier_samples_ + (sampler_ ? sampler_->samples() : 0);
    const double of_an_event = kSecondsOfAnEvent + (watched_.trace_has_stacks ? kSecondsOfAStack : 0);
    return static_cast<double>(samples) * kSecondsOfASample + static_cast<double>(events_) * of_an_event;
  }

  // What beginning took counts as what it usually does: it cannot be made less.
  double used_cpu() const {
    return kFixedSeconds + static_cast<double>(own_cpu_ns() - cpu_at_begin_ns_) / 1e9 + kernel_seconds();
  }
  // Samples go on without the recording, and have their part of what may be taken.
  bool recording_is_over() const {
    const double left = std::max(1 - seconds() / request_.seconds, 0.0);
    return used_cpu() > most_cpu_ * (1 - kPartForSamples * left) - kSecondsAtTheEnd;
  }

  bool is_over() {
    if (!watched_.cut_short.empty() || seconds() >= request_.seconds) return true;
    if (interrupt_.interrupted()) watched_.cut_short = "it was interrupted";
    if (used_cpu() > most_cpu_)
      watched_.cut_short = fmt::format("it had used the {:.1f} s of CPU time that it may take", most_cpu_);
    return !watched_.cut_short.empty();
  }

  void begin_samples(std::uint64_t mean_bytes) {
    sampler_.reset();
    try {
      sampler_ = std::make_unique<Sampler>(mean_bytes, kernel_, request_.seconds - seconds());
    } catch (const Error& error) {
      watched_.unseen.push_back({"samples of all slab allocations", error.what(), error.hint()});
    }
  }

  // Several times a second, whatever else goes on.
  void turn() {
    if (sampler_) {
      sampler_->drain();
      tune();
    }
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
    const double allowed =
        kPartForSamples * std::max(most_cpu_ - kFixedSeconds, most_cpu_ / 4) / request_.seconds / kSecondsOfASample;
    const double rate = static_cast<double>(sampler_->samples()) / seconds();
    const double wanted = static_cast<double>(kFirstMeanBytes) * rate / allowed;
    const auto mean = static_cast<std::uint64_t>(
        std::clamp(wanted, static_cast<double>(kFewestMeanBytes), static_cast<double>(kMostBytesApart)));
    if (mean > kFirstMeanBytes / 2 && mean < kFirstMeanBytes * 3 / 2) return;
    earlier_samples_ = sampler_->samples();
    begin_samples(mean);
  }

  InvestigationEvidence evidence() {
    InvestigationEvidence evidence;
    evidence.seconds = seconds();
    evidence.threshold_bytes_per_s = request_.threshold_bytes_per_s;
    evidence.states = states_over_time(states_, watched_.kernel.page_size);
    if (sampler_) {
      evidence.samples = sampler_->seen();
      evidence.trace_begin_seconds = trace_begin_ns_ > sampler_->begin_ns()
                                         ? static_cast<double>(trace_begin_ns_ - sampler_->begin_ns()) / 1e9
                                         : 0;
    }
    return evidence;
  }

  void record_narrowed();

  const LiveInvestigation& request_;
  const InvestigationPlan& plan_;
  double most_cpu_;
  InterruptGuard interrupt_{SecondSignal::is_ignored};
  LiveKernel kernel_;
  WatchedKernel watched_;
  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<Sampler> sampler_;
  std::uint64_t earlier_samples_ = 0;
  bool tuned_ = false;
  std::uint64_t cpu_at_begin_ns_ = 0;
  std::vector<StateSample> states_;
  double next_state_ = 0;
  bool recorded_ = false;
  bool recording_ = false;
  std::uint64_t trace_begin_ns_ = 0;
  std::uint64_t events_ = 0;
};

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
  if (!narrowing.caches.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& cache : narrowing.caches) quoted.push_back('"' + cache + '"');
    const std::string by_name = any_of("name", quoted);
    const std::string by_size = any_of("bytes_alloc", object_bytes(narrowing.caches, snapshot));
    const std::string allocated = names_caches("kmem_cache_alloc") ? by_name : by_size;
    add("kmem:kmem_cache_alloc", allocated);
    add("kmem:kmem_cache_alloc_node", allocated);
    add("kmem:kmem_cache_free", names_caches("kmem_cache_free") ? by_name : "");
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
  // Names and processes of tasks.
  add("task:task_newtask", "");
  add("task:task_rename", "");
}

void Watch::record_narrowed() {
  recorded_ = true;
  RecordOptions options;
  options.output = request_.folder + "/trace.kmt";
  options.no_progress = true;
  options.stacks = !sampler_ || watched_.evidence.narrowing.pages ? "kernel" : "";
  options.duration = fmt::format("{:.3f}s", std::max(request_.seconds - seconds(), 1.0));
  options.max_memory = fmt::format("{}", kMostTraceBuffer);
  watched_.trace_has_stacks = !options.stacks.empty();
  try {
    const std::string tracefs = usable_tracefs();
    select_events(watched_.evidence.narrowing, tracefs, watched_.before, options);
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
  plan.state_interval = std::max(request.seconds / kStates, 0.1);
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
  plan.cpu_seconds = 0.3 + kStates * kSecondsOfAState + (plan.samples ? 0.5 : 0) + (plan.trace ? 0.3 : 0) +
                     request.cpu_share * request.seconds * cpus_online() / 4;
  plan.kernel_bytes = (plan.samples ? 10u << 20 : 0) + (plan.trace ? kMostTraceBuffer : 0);
  return plan;
}

WatchedKernel watch_kernel(const LiveInvestigation& request, const InvestigationPlan& plan) {
  outlive_write_signals();
  return Watch(request, plan).run();
}

}  // namespace kmt
