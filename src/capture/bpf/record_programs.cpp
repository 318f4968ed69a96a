// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/record_programs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/types.h>
#include <unistd.h>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/records.skel.h"
#include "capture/bpf/programs/records_without_btf.skel.h"
#include "capture/bpf/record/page_table.hpp"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "capture/features/events.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kFewestRingBytes = 4096;
constexpr std::uint64_t kMostRingBytes = 16 << 20;
constexpr std::uint64_t kLargestEntry = (KMT_MOST_KERNEL_WORDS + KMT_STACK_WORDS) * sizeof(std::uint64_t);

using Object = BpfSkeleton<records_bpf, records_bpf__create_skeleton, records_bpf__load, records_bpf__destroy,
                           records_without_btf_bpf__elf_bytes>;

struct RecordProgram {
  EventName event;
  bpf_program* program;
  bpf_program* nested;
};

std::array<RecordProgram, KMT_EVENT_COUNT> programs_of(Object& object) {
  return {{
#define KMT_EVENT(system, name, outcome) {{#system, #name}, object->progs.take_##name, object->progs.nested_##name},
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT
  }};
}

// True if the event is recorded for all tasks, even if only some are selected. Any task may move a selected task to
// another cgroup. Modules concern all tasks. The OOM killer may run in any task.
bool is_of_all(const EventName& event) {
  return event.system == "cgroup" || event.system == "module" || event.system == "oom";
}

KernelTraits traits_of(const KernelTypes& types, const std::vector<EventName>& events) {
  KernelTraits kernel;
  if (std::any_of(events.begin(), events.end(), [](const EventName& e) { return e.name.starts_with("mm_page_"); }))
    kernel.pages = find_page_table(types);
  kernel.has_nodes = ::access("/sys/devices/system/node", F_OK) == 0;
  if (!types.bytes_of_structure("mem_cgroup")) return kernel;
  // ___GFP_ACCOUNT_BIT and _SLAB_ACCOUNT are enumerators since Linux 6.10. Before that, they were macros
  // (include/linux/gfp_types.h, include/linux/slab.h).
  kernel.account_flag = 1ull << types.enumerated("___GFP_ACCOUNT_BIT").value_or(22);
  kernel.cache_account_flag = 1u << types.enumerated("_SLAB_ACCOUNT").value_or(26);
  return kernel;
}

}  // namespace

struct RecordPrograms::State {
  const ProgramsRequest request;
  Object object;
  std::array<RecordProgram, KMT_EVENT_COUNT> programs = programs_of(object);
  std::array<kmt_taken, KMT_EVENT_COUNT> taken{};
  std::vector<EventLayout> layouts{KMT_EVENT_COUNT};  // indexed by event number
  KernelTraits kernel;
  unsigned rings_of_cpu = 0;
  unsigned tables_of_cpu = 0;
  RingSizes sizes;
  bool has_kernel_records = false;
  ContextConstants context;
  MappedArray rings;
  MappedArray caches;
  std::uint64_t missed_before = 0;  // value of missed() when begin() was called

  explicit State(const ProgramsRequest& wanted) : request(wanted) {}
  kmt_ring* ring(std::uint64_t number) const {
    return reinterpret_cast<kmt_ring*>(rings.as<std::uint8_t>() + number * sizes.stride);
  }
  bool takes_nested(std::size_t event) const { return request.nested && taken[event].is_recorded != 0; }
  void lay_out(const std::string& tracefs);
  void take(std::size_t number, const EventLayout& layout, bool is_recorded);
  void leave_out();
  void size_maps();
  void fill_constants();
  std::uint64_t missed() const;
};

void RecordPrograms::State::take(std::size_t number, const EventLayout& layout, bool is_recorded) {
  kmt_taken& what = taken[number];
  what.arguments = layout.words;
  what.cache = layout.cache;
  what.is_recorded = is_recorded;
  what.is_free = frees_memory(programs[number].event);
  if (is_recorded) what.ring = static_cast<unsigned char>(rings_of_cpu++);
  if (layout.cache >= 0) what.table = static_cast<unsigned char>(tables_of_cpu++);
  if (is_recorded && request.nested) {
    what.nested_ring = static_cast<unsigned char>(rings_of_cpu++);
    if (layout.cache >= 0) what.nested_table = static_cast<unsigned char>(tables_of_cpu++);
  }
  layouts[number] = layout;
}

// Chooses a program for each event.
void RecordPrograms::State::lay_out(const std::string& tracefs) {
  const KernelTypes types;
  kernel = traits_of(types, request.events);
  context = context_constants(types);
  const auto layout_now = [&](const EventName& event, bool by_arguments) {
    const std::string format = read_file(fmt::format("{}/events/{}/{}/format", tracefs, event.system, event.name));
    const auto names = by_arguments ? types.argument_names(event.name) : std::nullopt;
    return kmt::layout_of(event, format, names.value_or(std::vector<std::string>{}), kernel);
  };
  for (const EventName& event : request.events) {
    const auto known = std::find_if(programs.begin(), programs.end(),
                                    [&event](const RecordProgram& program) { return program.event == event; });
    EventLayout layout = layout_now(event, known != programs.end());
    if (!layout.is_kernel_record) {
      take(static_cast<std::size_t>(known - programs.begin()), layout, true);
      continue;
    }
    if (layouts.size() >= KMT_MOST_EVENTS)
      throw Error(fmt::format("BPF programs record at most {} events at a time", int{KMT_MOST_EVENTS}));
    layouts.push_back(std::move(layout));
    has_kernel_records = true;
  }
  // Even if this event is not recorded, its program is needed: a free of a cache's descriptor is the end of the cache.
  if (tables_of_cpu > 0 && !taken[KMT_EVENT_kmem_cache_free].is_recorded)
    if (const EventLayout layout = layout_now(programs[KMT_EVENT_kmem_cache_free].event, true); layout.cache >= 0)
      take(KMT_EVENT_kmem_cache_free, layout, false);
}

void RecordPrograms::State::leave_out() {
  for (std::size_t event = 0; event < programs.size(); ++event) {
    bpf_program__set_autoload(programs[event].program, taken[event].arguments > 0);
    bpf_program__set_autoload(programs[event].nested, takes_nested(event));
  }
  // A program identifies its event by its attach cookie, so kernels without cookies cannot be used. They also refuse
  // maps of this size.
  if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_TRACEPOINT, BPF_FUNC_get_attach_cookie, nullptr) == 0)
    throw Error("Recording by BPF programs needs Linux 5.15 or later", ExitCode::unsupported)
        .hint("Remove --backend bpf: ftrace records the same events at a higher cost");
  bpf_program__set_autoload(object->progs.take_kernel_record, has_kernel_records);
  bpf_program__set_autoload(object->progs.follow_fork, !request.selection.processes.empty());
  bpf_program__set_autoload(object->progs.forget_process, !request.selection.processes.empty());
}

void RecordPrograms::State::size_maps() {
  const unsigned all_rings = std::max(rings_of_cpu + (has_kernel_records ? 1 : 0), 1u);
  sizes = ring_sizes(request, all_rings, kLargestEntry);
  bpf_map__set_value_size(object->maps.rings, static_cast<unsigned>(sizes.stride));
  bpf_map__set_max_entries(object->maps.rings, request.cpus * all_rings);
  bpf_map__set_max_entries(object->maps.caches, request.cpus * std::max(tables_of_cpu, 1u) * KMT_CACHES);
  allocate_before_where_needed(object->maps.processes);
}

void RecordPrograms::State::fill_constants() {
  auto& constants = *object->rodata;
  static_assert(sizeof constants.taken == sizeof taken);
  std::memcpy(&constants.taken, taken.data(), sizeof taken);
  constants.kernel_ring = rings_of_cpu;
  if (has_kernel_records) ++rings_of_cpu;
  fill_ring_constants(constants, request, rings_of_cpu, sizes);
  fill_context_constants(constants, context);
  constants.tables_of_cpu = tables_of_cpu;
  constants.wants_stacks = request.stacks;
  constants.wants_user_stacks = request.user_stacks;
}

// Returns the number of missed events. The kernel counts the events that the first program missed. The second program
// recorded some of these events, which are subtracted.
std::uint64_t RecordPrograms::State::missed() const {
  std::uint64_t seen = 0;
  for (unsigned number = 0; number < request.cpus * rings_of_cpu; ++number)
    seen += *const_cast<volatile unsigned long long*>(&ring(number)->nested_seen);
  std::uint64_t sum = 0;
  for (std::size_t event = 0; event < programs.size(); ++event)
    if (taken[event].is_recorded) sum += missed_runs(programs[event].program);
  if (has_kernel_records) sum += missed_runs(object->progs.take_kernel_record);
  return sum > seen ? sum - seen : 0;
}

RecordPrograms::RecordPrograms(const std::string& tracefs, const ProgramsRequest& request)
    : state_(std::make_unique<State>(request)) {
  State& state = *state_;
  state.lay_out(tracefs);
  state.leave_out();
  state.size_maps();
  state.fill_constants();
  state.object.load();
  const auto& maps = state.object->maps;
  state.rings = MappedArray(bpf_map__fd(maps.rings), to_size(bpf_map__max_entries(maps.rings) * state.sizes.stride));
  state.caches = MappedArray(bpf_map__fd(maps.caches), bpf_map__max_entries(maps.caches) * sizeof(kmt_cache));
  fill_selection(request.selection, maps.processes, maps.cgroup);
}

RecordPrograms::~RecordPrograms() = default;

RingSizes ring_sizes(const ProgramsRequest& request, unsigned rings, std::uint64_t largest) {
  RingSizes sizes;
  // room for the largest entry, and for an entry before it that reports lost events
  const std::uint64_t after = 2 * sizeof(kmt_entry) + sizeof(std::uint64_t) + largest;
  sizes.bytes = std::clamp(std::bit_floor(request.ring_bytes_of_cpu / rings),
                           std::max(kFewestRingBytes, std::bit_ceil(4 * largest)), kMostRingBytes);
  sizes.stride = (sizeof(kmt_ring) + sizes.bytes + after + 7) / 8 * 8;
  return sizes;
}

// Attaches the programs for tasks and system calls first, because their events must precede the memory events of these
// tasks. Then attaches the programs for frees, because an allocation whose free was missed would look live.
void RecordPrograms::attach() {
  State& state = *state_;
  auto& programs = state.object->progs;
  if (!state.request.selection.processes.empty()) {
    state.object.attach(programs.follow_fork);
    state.object.attach(programs.forget_process);
  }
  for (std::size_t number = KMT_EVENT_COUNT; number < state.layouts.size(); ++number) {
    const EventLayout& layout = state.layouts[number];
    const std::uint64_t cookie =
        KMT_COOKIE(number, std::uint64_t{layout.words}, std::uint64_t{frees_memory(layout.event)},
                   std::uint64_t{is_of_all(layout.event)});
    state.object.attach(programs.take_kernel_record, layout.event.system, layout.event.name, cookie);
  }
  for (const bool frees : {true, false})
    for (std::size_t event = 0; event < state.programs.size(); ++event)
      if (state.taken[event].arguments > 0 && (state.taken[event].is_free != 0) == frees) {
        if (state.takes_nested(event)) state.object.attach(state.programs[event].nested);
        state.object.attach(state.programs[event].program);
      }
}

void RecordPrograms::begin() {
  state_->missed_before = state_->missed();
  *const_cast<volatile std::uint32_t*>(&state_->object->bss->recording) = KMT_RECORDING_RUNS;
}

void RecordPrograms::end() {
  *const_cast<volatile std::uint32_t*>(&state_->object->bss->recording) = KMT_RECORDING_IS_OVER;
}

void RecordPrograms::detach() {
  state_->object.detach();
  wait_for_running_programs();
}

const EventLayout& RecordPrograms::layout_of(unsigned event) const { return state_->layouts.at(event); }
const KernelTraits& RecordPrograms::kernel() const { return state_->kernel; }

std::string RecordPrograms::description_of(const EventName& event) const {
  const auto found = std::find_if(state_->layouts.begin(), state_->layouts.end(),
                                  [&event](const EventLayout& layout) { return layout.event == event; });
  return found == state_->layouts.end() ? "" : found->description;
}

CpuRings RecordPrograms::rings_of(unsigned cpu) const {
  std::vector<kmt_ring*> rings;
  for (unsigned ring = 0; ring < state_->rings_of_cpu; ++ring)
    rings.push_back(state_->ring(cpu * state_->rings_of_cpu + ring));
  return {rings, state_->sizes.bytes};
}

const kmt_cache* RecordPrograms::caches_of(unsigned cpu, const kmt_entry& entry) const {
  if (entry.event >= KMT_EVENT_COUNT) return nullptr;
  const kmt_taken& what = state_->taken[entry.event];
  const std::size_t table =
      std::size_t{cpu} * state_->tables_of_cpu + (entry.is_nested ? what.nested_table : what.table);
  return state_->caches.as<kmt_cache>() + table * KMT_CACHES;
}

SharedByPrograms RecordPrograms::shared() const {
  const auto& maps = state_->object->maps;
  return {state_->context, bpf_map__fd(maps.processes), bpf_map__fd(maps.cgroup)};
}

std::uint64_t RecordPrograms::missed() const {
  return std::max(state_->missed(), state_->missed_before) - state_->missed_before;
}
std::uint64_t RecordPrograms::not_followed() const { return state_->object->bss->processes_not_followed; }
std::uint64_t RecordPrograms::ring_bytes() const {
  return std::uint64_t{state_->request.cpus} * state_->rings_of_cpu * state_->sizes.bytes;
}

}  // namespace kmt
