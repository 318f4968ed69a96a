// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/watch/event_counters.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <linux/types.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/arguments.h"
#include "capture/bpf/programs/counters.h"
#include "capture/bpf/programs/counters.skel.h"
#include "capture/bpf/programs/counters_without_btf.skel.h"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "capture/bpf/watch/cache_tables.hpp"

namespace kmt {

namespace {

struct CountedEvent {
  const char* system;
  const char* name;
  kmt_outcome outcome;
};

constexpr std::array<CountedEvent, KMT_EVENT_COUNT> kEvents = {{
#define KMT_EVENT(system, name, outcome) {#system, #name, outcome},
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT
}};

using Object = BpfSkeleton<counters_bpf, counters_bpf__create_skeleton, counters_bpf__load, counters_bpf__destroy,
                           counters_without_btf_bpf__elf_bytes>;

std::array<bpf_program*, KMT_EVENT_COUNT> programs_of(Object& object) {
  return {
#define KMT_EVENT(system, name, outcome) object->progs.count_##name,
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT
  };
}

EventName name_of(std::size_t event) { return {kEvents[event].system, kEvents[event].name}; }

// Returns the sums of an event over all CPUs. `of_cpu` is an array in the kernel.
kmt_counter sum_of(std::size_t event, const kmt_cpu_counters* of_cpu, std::size_t cpus) {
  kmt_counter sum{};
  for (std::size_t cpu = 0; cpu < cpus; ++cpu) {
    const volatile kmt_counter& counter = of_cpu[cpu].of[event];
    sum.events += counter.events;
    sum.failed += counter.failed;
    sum.requested += counter.requested;
    sum.allocated += counter.allocated;
  }
  return sum;
}

}  // namespace

std::vector<EventName> counted_events() {
  std::vector<EventName> names;
  for (std::size_t event = 0; event < kEvents.size(); ++event) names.push_back(name_of(event));
  return names;
}

struct EventCounters::State {
  Object object;
  std::array<bpf_program*, KMT_EVENT_COUNT> programs = programs_of(object);
  std::array<kmt_arguments, KMT_EVENT_COUNT> arguments{};
  std::vector<EventName> missing;
  std::size_t cpus = 0;
  MappedArray counters;
  CacheTables caches;

  void leave_out(const BpfSelection& selection, bool probes);
};

// Excludes programs that are unused or whose tracepoint this kernel lacks.
void EventCounters::State::leave_out(const BpfSelection& selection, bool probes) {
  const KernelTypes types;
  for (std::size_t event = 0; event < programs.size(); ++event) {
    if (const auto places = types.arguments_of(kEvents[event].name)) {
      arguments[event] = *places;
    } else {
      bpf_program__set_autoload(programs[event], false);
      programs[event] = nullptr;
      missing.push_back(name_of(event));
    }
  }
  object->rodata->can_cast = types.offers_function("bpf_rdonly_cast");
  object->rodata->counts_caches =
      caches.prepare(object->maps.caches, cpus, {.counts = true, .probes = probes}, types, path_programs(object));
  if (missing.size() == programs.size())
    throw Error("This kernel's BTF describes no memory events", ExitCode::unsupported)
        .hint("`kmemtrace record` does not need BTF");
  bpf_program__set_autoload(object->progs.follow_fork, !selection.processes.empty());
  bpf_program__set_autoload(object->progs.forget_process, !selection.processes.empty());
}

EventCounters::EventCounters(const BpfSelection& selection, bool probes) : state_(std::make_unique<State>()) {
  State& state = *state_;
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) throw_bpf_error("Cannot determine the number of CPUs", -cpus);
  state.cpus = static_cast<std::size_t>(cpus);
  state.leave_out(selection, probes);
  bpf_map__set_max_entries(state.object->maps.counters, static_cast<unsigned>(cpus));
  state.object->rodata->page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  state.object->rodata->only_processes = !selection.processes.empty();
  state.object->rodata->only_cgroup = !selection.cgroup.empty();
  static_assert(sizeof state.object->rodata->arguments == sizeof state.arguments);
  std::memcpy(&state.object->rodata->arguments, state.arguments.data(), sizeof state.arguments);
  state.object.load();
  state.counters = MappedArray(bpf_map__fd(state.object->maps.counters), state.cpus * sizeof(kmt_cpu_counters));
  state.caches.open();
  fill_selection(selection, state.object->maps.processes, state.object->maps.cgroup);
  if (!selection.processes.empty()) {
    state.object.attach(state.object->progs.follow_fork);
    state.object.attach(state.object->progs.forget_process);
  }
  for (const bpf_program* const program : state.programs)
    if (program) state.object.attach(program);
  state.caches.attach_paths(state.object);
}

EventCounters::~EventCounters() = default;
EventCounters::EventCounters(EventCounters&&) noexcept = default;

std::vector<EventCount> EventCounters::read() {
  std::vector<EventCount> counts;
  for (std::size_t event = 0; event < kEvents.size(); ++event) {
    if (!state_->programs[event]) continue;
    const kmt_counter sum = sum_of(event, state_->counters.as<kmt_cpu_counters>(), state_->cpus);
    const kmt_arguments& places = state_->arguments[event];
    EventCount count;
    count.event = name_of(event);
    const kmt_outcome outcome = kEvents[event].outcome;
    count.has_bytes = outcome != KMT_IS_FAILURE && (places.requested >= 0 || places.cache >= 0 || places.order >= 0);
    count.may_fail =
        outcome == KMT_IS_FAILURE || (outcome == KMT_MAY_FAIL && (places.failed >= 0 || places.pointer >= 0));
    count.events = sum.events;
    count.failed = sum.failed;
    count.requested = sum.requested;
    count.allocated = sum.allocated;
    count.missed = missed_runs(state_->programs[event]);
    counts.push_back(std::move(count));
  }
  return counts;
}

CacheCounts EventCounters::read_caches() const { return state_->caches.read(state_->object->bss->uncounted_objects); }
std::uint64_t EventCounters::not_followed() const { return state_->object->bss->processes_not_followed; }
const std::vector<EventName>& EventCounters::missing() const { return state_->missing; }
std::optional<std::uint64_t> EventCounters::kernel_memory() const { return memory_of_maps(state_->object->obj); }

}  // namespace kmt
