// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/check.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/matching/freed_by.hpp"
#include "analysis/matching/freed_frames.hpp"
#include "analysis/matching/missing_frees.hpp"
#include "analysis/matching/page_matcher.hpp"
#include "analysis/matching/slab_matcher.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "analysis/report/known_causes.hpp"
#include "analysis/report/older_objects.hpp"
#include "analysis/series/longest_silence.hpp"
#include "base/intern_table.hpp"
#include "base/text.hpp"
#include "trace/kernel_release.hpp"
#include "trace/tasks/processes.hpp"

namespace kmt {

namespace {

// True if an event in an interrupt may have the time of the interrupted event. This only happens in the kernel's own
// ring buffer. perf and LTTng have other buffers, so a .kmt file converted from their traces is excluded.
bool nests_times(const TraceInfo& info) {
  const auto version = version_of(info.machine.kernel);
  if (!version || *version >= KernelVersion{5, 9}) return false;
  const auto recorder = info.recording.notes.find("recorder");
  return info.format.starts_with("trace.dat") ||
         (info.format.starts_with("kmt") &&
          (recorder == info.recording.notes.end() || recorder->second.starts_with("kmemtrace")));
}

// Minimum clock jump that is reported. Smaller jumps are normal: the final time may be read on another CPU some
// time after the last event.
constexpr std::uint64_t kJumpNs = 10'000'000'000;
// Maximum disagreement of CPU clocks. If a task's first event precedes the task's birth by less, the clocks of CPUs
// disagree. If by more, an earlier task had this thread ID.
constexpr std::uint64_t kBirthNs = 10'000'000;
constexpr std::size_t kMostUnborn = 1 << 20;

// Returns the kinds of reported numbers that the findings affect, the worst first. Findings about lifetimes do not
// count if there are fewer than one per thousand events, because they change no number that is shown.
std::vector<AffectedNumbers> affected_numbers(const Findings& findings, std::uint64_t events) {
  constexpr std::uint64_t kFewest = 1000;
  std::array<bool, kAffectedNumberIds.size()> is_affected{};
  for (std::size_t i = 0; i < kImperfections.size(); ++i) {
    const auto kind = static_cast<Imperfection>(i);
    const AffectedNumbers affected = affected_by(kind);
    const std::uint64_t count = findings.count_of(kind);
    if (count == 0 || (affected == AffectedNumbers::lifetimes && count < events / kFewest)) continue;
    is_affected[static_cast<std::size_t>(affected)] = true;
  }
  std::vector<AffectedNumbers> list;
  for (std::size_t i = 0; i < static_cast<std::size_t>(AffectedNumbers::nothing); ++i)
    if (is_affected[i]) list.push_back(static_cast<AffectedNumbers>(i));
  return list;
}

}  // namespace

struct CheckAnalysis::State {
  State(const TraceInfo& trace_info, bool judge_pairs, const SymbolNames* symbol_names)
      : info(trace_info),
        pairs(judge_pairs),
        may_nest_times(nests_times(trace_info)),
        cache_object_may_be_kfreed(kfree_takes_cache_objects(trace_info.machine.kernel)),
        recorder(trace_info),
        freed_frames(trace_info.recording.page_identity),
        names(symbol_names) {
    if (names != nullptr) causes.emplace(info, *names);
    for (const BufferStatistics& statistics : info.losses.buffers) {
      if (last.size() <= statistics.cpu) last.resize(statistics.cpu + 1);
      last[statistics.cpu].counted_ns = statistics.counted_ns;
    }
  }

  void add(const Event& event);
  void check_allocation(const Event& event);
  void check_free(const Event& event);
  void check_pages(const Event& event);
  SlabMatcher& objects_of(EventKind kind) { return objects[static_cast<std::size_t>(allocator_of(kind))]; }
  struct ObjectKind {
    std::uint32_t cache;  // a CacheId
    std::uint32_t call_site;
    std::uint64_t bytes;
  };
  bool may_be_free(const ObjectKind& kind) { return causes->may_free(kind.cache, CallSiteId{kind.call_site}); }
  // Returns ", call site do_exit+0x12", or nothing if the event has no call site.
  std::string at_call_site(const Event& event) const {
    const std::uint64_t address = info.tables.call_sites[event.call_site.value];
    if (address == 0) return {};
    return names == nullptr ? fmt::format(", call site {:#x}", address)
                            : fmt::format(", call site {}", printable(names->name(address)));
  }
  // Adds a finding. `detail` composes its text, and is only called if more examples of this kind are kept.
  template <typename Detail>
  void found(Imperfection kind, const Event& event, Detail&& detail) {
    if (!findings.wants(kind)) return findings.count(kind);
    const std::string& name = info.tables.event_types[event.type.value].name;
    findings.add({kind, printable(name) + ": " + detail(), event.cpu, {}, event.time_ns});
  }

  void check_time(const Event& event);
  void find_clocks_apart();
  void find_jumps_of_samples();
  void find_silence();
  void count_live(CheckResult& result);

  const TraceInfo& info;
  bool pairs;
  bool may_nest_times;  // true for ring buffers of kernels before Linux 5.9
  struct Last {
    std::uint64_t time_ns = 0;
    std::uint64_t counted_ns = 0;  // time at which the final statistics of the ring buffer were read; 0: unknown
    std::int32_t tid = 0;
    std::uint8_t level = 0;
  };
  std::vector<Last> last;  // index: CPU
  // Time and CPU of the first event of each task that was not known at that time. If a task was born after its first
  // event, the clocks of CPUs disagree.
  std::unordered_map<std::int32_t, std::pair<std::uint64_t, std::uint16_t>> unborn;
  bool cache_object_may_be_kfreed;
  RecorderTasks recorder;
  FreedFrames freed_frames;
  const SymbolNames* names;           // may be null if allocations are not matched
  std::optional<KnownCauses> causes;  // empty if there are no symbol names
  ExplainedAnomalies explained;
  EventSpan span;
  LongestSilence silence;
  InternTable<ObjectKind> kinds;
  std::array<SlabMatcher, kPointerAllocators> objects;  // SlabObject::origin is an ID in `kinds`
  std::vector<std::uint64_t> older_frees;  // index: CacheId; value: frees of slab objects from before the trace
  Findings findings;
};

void CheckAnalysis::State::add(const Event& event) {
  span.add(event);
  if (event.address != 0 && (is_allocation(event.kind) || is_free(event.kind))) ++explained.events;
  silence.add(event);
  check_time(event);
  if (is_allocation(event.kind)) check_allocation(event);
  if (pairs && is_free(event.kind)) check_free(event);
  if (event.kind == EventKind::page_alloc || event.kind == EventKind::page_free) check_pages(event);
}

void CheckAnalysis::State::check_time(const Event& event) {
  if (last.size() <= event.cpu) last.resize(event.cpu + std::size_t{1});
  Last& before = last[event.cpu];
  const std::uint8_t level = interrupt_level(event);
  if (may_nest_times && event.time_ns == before.time_ns && level > before.level)
    found(Imperfection::nested_times, event, [] { return std::string("same time as the previous event"); });
  if (info.clock.in_ns && before.counted_ns != 0 && event.time_ns > before.counted_ns &&
      event.time_ns - before.counted_ns > kJumpNs)
    found(Imperfection::clock_jumps, event,
          [&] { return fmt::format("{} s later", (event.time_ns - before.counted_ns) / 1'000'000'000); });
  before.time_ns = event.time_ns;
  before.level = level;
  if (level == 0 && event.tid != std::exchange(before.tid, event.tid) && event.tid != 0 &&
      unborn.size() < kMostUnborn && info.tasks.lives.known_at_begin(event.tid) == nullptr &&
      info.tasks.lives.life_at(event.tid, event.time_ns) == nullptr)
    unborn.try_emplace(event.tid, event.time_ns, event.cpu);
}

void CheckAnalysis::State::find_clocks_apart() {
  for (const auto& [tid, first] : unborn) {
    const auto& [time_ns, cpu] = first;
    const TaskLife* const life = info.tasks.lives.life_at(tid, time_ns + kBirthNs);
    if (life == nullptr || life->born_ns == time_ns) continue;  // if the clock is coarse, the two times may be equal
    findings.add(
        {Imperfection::clocks_apart, fmt::format("task {}: by {} ns", tid, life->born_ns - time_ns), cpu, {}, time_ns});
  }
}

// Compares the trace's clock with the second clock in memory samples. If the trace's clock stood still for a time, the
// machine was suspended; such a difference is not reported as a jump. If the recorder noted that the wall clock was set
// (wall_clock_set_ns), the comparison shows nothing. A jump is then reported only if the trace has the clock `tai`,
// which is set together with the wall clock.
void CheckAnalysis::State::find_jumps_of_samples() {
  if (!info.clock.in_ns) return;
  if (const auto note = info.recording.notes.find("wall_clock_set_ns"); note != info.recording.notes.end()) {
    if (info.clock.name == "tai")
      findings.add(
          {Imperfection::clock_jumps, fmt::format("the clock was set, by {} ns", printable(note->second)), {}, {}, {}});
    return;  // if the wall clock was set, a comparison with it shows nothing
  }
  const auto seconds = [](std::uint64_t ns) { return ns / 1'000'000'000; };
  for (std::size_t i = 1; i < info.recording.samples.size(); ++i) {
    const StateSample& before = info.recording.samples[i - 1];
    const StateSample& after = info.recording.samples[i];
    if (after.ticks <= before.ticks || after.unix_ns < before.unix_ns || before.unix_ns == 0 || before.ticks == 0)
      continue;
    const std::uint64_t by_trace = after.ticks - before.ticks;
    const std::uint64_t by_wall = after.unix_ns - before.unix_ns;
    if (by_trace < by_wall || by_trace - by_wall <= kJumpNs + by_wall / 100) continue;
    findings.add(
        {Imperfection::clock_jumps,
         fmt::format("the clock advanced by {} s, but the wall clock by {} s", seconds(by_trace), seconds(by_wall)),
         {},
         {},
         before.ticks});
  }
}

// Reports a long time without events, unless losses, a suspended machine or another finding explains it.
void CheckAnalysis::State::find_silence() {
  const auto found = silence.out_of_proportion(kJumpNs);
  if (!found || !info.clock.in_ns || findings.count_of(Imperfection::clock_jumps) > 0) return;
  const std::uint64_t end_ns = found->begin_ns + found->ns;
  // If only some tasks were recorded, all of them may have slept. A kernel thread's event before or after the silence
  // shows that all tasks are recorded. Only then does the silence count.
  const auto is_of_kernel = [&](std::int32_t tid) {
    const std::string_view name = task_name(info.tasks, tid, found->begin_ns);
    return tid == 0 || name.starts_with("kworker/") || name.starts_with("ksoftirqd/") ||
           is_kernel_thread(info.tasks, process_at(info.tasks, tid, found->begin_ns));
  };
  if (std::ranges::none_of(found->tasks, is_of_kernel)) return;
  const bool lossy = std::ranges::any_of(info.losses.intervals, [&](const LostEvents& lost) {
    return lost.before_ns < end_ns && lost.after_ns > found->begin_ns;
  });
  if (lossy || info.findings.count_of(Imperfection::some_tasks) + info.findings.count_of(Imperfection::suspended) > 0)
    return;
  findings.add({Imperfection::clock_jumps,
                fmt::format("no CPU has an event for {} s: the clock was set, or recording was interrupted",
                            found->ns / 1'000'000'000),
                {},
                {},
                found->begin_ns});
}

void CheckAnalysis::State::count_live(CheckResult& result) {
  const std::uint64_t lost_until_ns = frees_missing_until(info, kAnyTime);
  for (std::size_t i = 0; i < objects.size(); ++i)
    objects[i].for_each_live([&](std::uint64_t, const SlabObject& object) {
      const ObjectKind& kind = kinds[object.origin];
      const LiveCount one{1, kind.bytes};
      result.live += one;
      if (object.time_ns < lost_until_ns ||
          (causes &&
           causes->live_is_upper_bound(static_cast<Allocator>(i), kind.cache, {kind.call_site}, object.from_cache())))
        result.maybe_freed += one;
    });
}

void CheckAnalysis::State::check_allocation(const Event& event) {
  if (event.address == 0)
    return found(Imperfection::failed_allocation, event,
                 [&] { return fmt::format("NULL for {} bytes{}", event.bytes_requested, at_call_site(event)); });
  if (is_slab_alloc(event.kind) && event.bytes_allocated < event.bytes_requested)
    found(Imperfection::allocated_less_than_requested, event, [&] {
      return fmt::format("{} of {} bytes{}", event.bytes_allocated, event.bytes_requested, at_call_site(event));
    });
  if (!pairs) return;
  const SlabMatcher::Allocation allocation =
      objects_of(event.kind)
          .allocate(event, kinds.id_of({event.cache.value, event.call_site.value, event.bytes_allocated}).first,
                    info.machine.page_size);
  if (!allocation.replaced || allocation.duplicate_event) return;
  if (causes && !allocation.object.free_came_early()) {
    const ObjectKind& kind = kinds[allocation.object.origin];
    causes->add_reuse(allocator_of(event.kind), kind.cache, {kind.call_site});
  }
  if (!allocation.object.free_came_early() && is_slab_alloc(event.kind) && causes &&
      may_be_free(kinds[allocation.object.origin])) {
    ++explained.untraced_frees;
    return findings.count(Imperfection::allocation_on_live_pointer);
  }
  const auto pointer = [&] { return fmt::format("pointer {:#x}{}", event.address, at_call_site(event)); };
  found(allocation.object.free_came_early() ? Imperfection::free_before_allocation
                                            : Imperfection::allocation_on_live_pointer,
        event, pointer);
}

void CheckAnalysis::State::check_free(const Event& event) {
  const auto pointer = [&] { return fmt::format("pointer {:#x}{}", event.address, at_call_site(event)); };
  const auto [outcome, object] = objects_of(event.kind).release(event);
  if (outcome == FreeOutcome::allocated_before_trace) {
    found(Imperfection::allocated_before_trace, event, pointer);
    ++explained.older_frees;
    if (is_slab_free(event.kind)) {
      if (older_frees.size() <= event.cache.value) older_frees.resize(event.cache.value + std::size_t{1});
      ++older_frees[event.cache.value];
    }
  }
  // In some traces, such as text files, the order of the events is not the order of their times.
  if (outcome == FreeOutcome::matched && event.time_ns < object.time_ns && event.cpu != object.cpu)
    found(Imperfection::free_before_allocation, event,
          [&, early_ns = object.time_ns - event.time_ns] { return fmt::format("{}, by {} ns", pointer(), early_ns); });
  if (outcome == FreeOutcome::double_or_untraced && recorder.freed_own(event)) {
    ++explained.recorder_frees;
  } else if (outcome == FreeOutcome::double_or_untraced) {
    if (is_slab_free(event.kind) && causes && causes->may_have_allocated(event.cache.value, event.call_site)) {
      ++explained.untraced_allocations;
      findings.count(Imperfection::double_free_or_untraced_allocation);
    } else {
      found(Imperfection::double_free_or_untraced_allocation, event, pointer);
    }
  }
  if (is_slab_free(event.kind) && outcome == FreeOutcome::matched &&
      freed_by_wrong_family(object.from_cache(), event, cache_object_may_be_kfreed))
    found(Imperfection::freed_by_another_family, event, pointer);
  else if (outcome == FreeOutcome::matched && object.from_cache() &&
           freed_to_wrong_cache(kinds[object.origin].cache, event))
    found(Imperfection::freed_by_another_cache, event, pointer);
}

void CheckAnalysis::State::check_pages(const Event& event) {
  if (event.order > kMostPageOrder)
    return found(Imperfection::impossible_order, event, [&] { return fmt::format("order {}", event.order); });
  const bool allocates = event.kind == EventKind::page_alloc;
  if (allocates && event.address == kNoPage)
    return found(Imperfection::failed_allocation, event,
                 [&] { return fmt::format("no page of order {}", event.order); });
  if (!pairs) return;
  if (allocates) return freed_frames.allocate(event);
  if (freed_frames.free(event) && !recorder.freed_own(event))
    found(Imperfection::pages_freed_twice, event,
          [&] { return fmt::format("order {}, address {:#x}{}", event.order, event.address, at_call_site(event)); });
}

CheckAnalysis::CheckAnalysis(const TraceInfo& info, bool pairs, const SymbolNames* names)
    : state_(std::make_unique<State>(info, pairs, names)) {}
CheckAnalysis::~CheckAnalysis() = default;

void CheckAnalysis::add(const EventBatch& batch) {
  for (const Event& event : batch) state_->add(event);
}

CheckResult CheckAnalysis::finish(bool complete) {
  CheckResult result;
  result.trace = summarize(state_->info);
  state_->span.store_in(result.trace);
  result.trace.complete = complete;
  result.trace.recorded_ns = recorded_time(state_->info, state_->span, complete).length_ns();
  state_->find_clocks_apart();
  state_->find_jumps_of_samples();
  state_->find_silence();
  result.findings = findings_of(state_->info);
  result.findings.merge(state_->findings);
  add_findings(older_objects(state_->info, state_->older_frees, state_->span.first_ns), result.findings);
  if (state_->info.clock.name == "local" && state_->info.machine.cpus > 1)
    result.findings.add({Imperfection::clock_not_ordered, "local"});
  result.explained = state_->explained;
  state_->count_live(result);
  result.affected = affected_numbers(result.findings, result.trace.events);
  result.sound = result.affected.empty();
  return result;
}

}  // namespace kmt
