// SPDX-License-Identifier: GPL-2.0-or-later
#include "capture/bpf/watch/heap.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include <linux/types.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/bpf/context_constants.hpp"
#include "capture/bpf/mapped_array.hpp"
#include "capture/bpf/object.hpp"
#include "capture/bpf/programs/arguments.h"
#include "capture/bpf/programs/heap.h"
#include "capture/bpf/programs/heap.skel.h"
#include "capture/bpf/programs/heap_without_btf.skel.h"
#include "capture/bpf/tracepoint_arguments.hpp"
#include "capture/bpf/watch/cache_tables.hpp"
#include "capture/bpf/watch/log2_table.hpp"

namespace kmt {

namespace {

constexpr std::uint32_t kFewestSites = 64;
constexpr std::uint32_t kMostSites = 8192;
constexpr std::uint32_t kGenerations = 2;
static_assert(kMostMeanBytes == KMT_MOST_MEAN_BYTES);

using Object = BpfSkeleton<heap_bpf, heap_bpf__create_skeleton, heap_bpf__load, heap_bpf__destroy,
                           heap_without_btf_bpf__elf_bytes>;

struct HeapProgram {
  const char* name;
  bool pages;
  bpf_program* program;
};

std::array<HeapProgram, KMT_HEAP_EVENTS> programs_of(Object& object) {
  return {{{"kmalloc", false, object->progs.on_kmalloc},
           {"kmalloc_node", false, object->progs.on_kmalloc_node},
           {"kmem_cache_alloc", false, object->progs.on_kmem_cache_alloc},
           {"kmem_cache_alloc_node", false, object->progs.on_kmem_cache_alloc_node},
           {"mm_page_alloc", true, object->progs.on_mm_page_alloc},
           {"kfree", false, object->progs.on_kfree},
           {"kmem_cache_free", false, object->progs.on_kmem_cache_free},
           {"mm_page_free", true, object->progs.on_mm_page_free}}};
}

bool is_free(std::size_t event) { return event >= KMT_HEAP_ALLOCATIONS; }

std::string text_of(const char* text, std::size_t most) { return {text, ::strnlen(text, most)}; }

}  // namespace

struct HeapWatcher::State {
  HeapRequest request;
  HeapHooks hooks;
  Object object;
  std::array<HeapProgram, KMT_HEAP_EVENTS> programs = programs_of(object);
  std::array<kmt_arguments, KMT_HEAP_EVENTS> arguments{};
  std::vector<EventName> missing;
  std::uint32_t cpus = 1;
  std::uint32_t sites_per_table = 1;
  MappedArray tables;
  CacheTables caches;
  ring_buffer* ring = nullptr;

  State(const HeapRequest& wanted, HeapHooks given) : request(wanted), hooks(std::move(given)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ring_buffer__free(ring); }

  void leave_out();
  void size_maps();
  void fill_constants();
  void attach();
  HeapSite site_of(const kmt_site& from, std::size_t event) const;
  void take_from_filter(std::uint64_t pointer);
  static int on_record(void* state, void* data, std::size_t bytes);
};

// Excludes programs that are unused or whose tracepoint this kernel lacks.
void HeapWatcher::State::leave_out() {
  const KernelTypes types;
  bool any = false;
  for (std::size_t event = 0; event < programs.size(); ++event) {
    HeapProgram& program = programs[event];
    const bool needs_frees = request.mean_bytes > 0 || (request.caches && !program.pages);
    const bool wanted = (program.pages ? request.pages : request.slab) && (needs_frees || !is_free(event));
    const auto places = types.arguments_of(program.name);
    // Objects can only be followed if the event has their pointer. This is the case on all known kernels.
    if (wanted && places && places->pointer >= 0) {
      arguments[event] = *places;
      any = true;
      continue;
    }
    if (wanted) missing.push_back({"kmem", program.name});
    bpf_program__set_autoload(program.program, false);
    program.program = nullptr;
  }
  fill_context_constants(*object->rodata, context_constants(types));
  object->rodata->counts_caches =
      caches.prepare(object->maps.caches, cpus, {request.caches, request.probes}, types, path_programs(object));
  if (!any)
    throw Error("This kernel's BTF describes no memory events", ExitCode::unsupported)
        .hint("`kmemtrace record` does not need BTF");
  const bool only_processes = !request.selection.processes.empty();
  bpf_program__set_autoload(object->progs.follow_fork, only_processes);
  bpf_program__set_autoload(object->progs.forget_process, only_processes);
}

void HeapWatcher::State::size_maps() {
  const std::uint32_t tables_of_all = cpus * KMT_HEAP_ALLOCATIONS;
  if (request.sites) {
    const std::uint64_t fit = request.site_bytes / (std::uint64_t{kGenerations} * tables_of_all * sizeof(kmt_site));
    sites_per_table =
        static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(fit, kFewestSites, kMostSites)));
    bpf_map__set_max_entries(object->maps.sites, kGenerations * tables_of_all * sites_per_table);
  }
  bpf_map__set_max_entries(object->maps.samplers, cpus);
  bpf_map__set_max_entries(object->maps.last_events, cpus);
  if (request.mean_bytes == 0) return;
  bpf_map__set_max_entries(object->maps.scratch, tables_of_all);
  bpf_map__set_max_entries(object->maps.followed, request.most_followed);
  bpf_map__set_max_entries(object->maps.ring, static_cast<unsigned>(request.ring_bytes));
}

void HeapWatcher::State::fill_constants() {
  auto& constants = *object->rodata;
  static_assert(sizeof constants.arguments == sizeof arguments);
  std::memcpy(&constants.arguments, arguments.data(), sizeof arguments);
  constants.page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  constants.cpus = cpus;
  constants.no_movable_pages = request.no_movable_pages;
  constants.only_processes = !request.selection.processes.empty();
  constants.only_cgroup = !request.selection.cgroup.empty();
  constants.wants_sites = request.sites;
  constants.names_threads = request.names_threads;
  constants.sites_per_table = sites_per_table;
  constants.mean_bytes = request.mean_bytes;
  const auto logarithms = log2_table();
  std::ranges::copy(logarithms, constants.log2_table);
  // The seed is random, so that users cannot choose addresses whose hashes collide.
  constants.hash_seed = std::random_device()() * 0x9e3779b97f4a7c15ull | 1;
}

void HeapWatcher::State::attach() {
  object.load();
  if (request.sites)
    tables = MappedArray(bpf_map__fd(object->maps.sites),
                         std::size_t{bpf_map__max_entries(object->maps.sites)} * sizeof(kmt_site));
  if (request.mean_bytes > 0) {
    ring = ring_buffer__new(bpf_map__fd(object->maps.ring), on_record, this, nullptr);
    if (!ring) throw_bpf_error("Cannot open the ring buffer", errno);
  }
  caches.open();
  fill_selection(request.selection, object->maps.processes, object->maps.cgroup);
  if (!request.selection.processes.empty()) {
    object.attach(object->progs.follow_fork);
    object.attach(object->progs.forget_process);
  }
  caches.attach_paths(object);
  // Attaches the programs for frees first, because an allocation whose free was missed would look live.
  for (std::size_t event = programs.size(); event-- > 0;)
    if (programs[event].program) object.attach(programs[event].program);
}

int HeapWatcher::State::on_record(void* context, void* data, std::size_t bytes) {
  const State& state = *static_cast<State*>(context);
  if (bytes == sizeof(kmt_sample_end)) {
    const auto& end = *static_cast<const kmt_sample_end*>(data);
    state.hooks.ended({end.pointer, end.time_ns, end.end == KMT_REPLACED, end.end == KMT_DUPLICATE});
    return 0;
  }
  const auto& from = *static_cast<const kmt_sample*>(data);
  HeapSample sample;
  sample.pointer = from.pointer;
  sample.time_ns = from.time_ns;
  sample.call_site = from.call_site;
  sample.requested = from.requested;
  sample.allocated = from.allocated;
  sample.cgroup = from.cgroup;
  sample.process = from.process;
  sample.task = from.task;
  sample.context = static_cast<AllocationContext>(from.context);
  sample.pages = from.event == KMT_HEAP_mm_page_alloc;
  sample.kmalloc = from.event == KMT_HEAP_kmalloc || from.event == KMT_HEAP_kmalloc_node;
  sample.followed = from.followed != 0;
  sample.comm = {from.comm, ::strnlen(from.comm, sizeof from.comm)};
  sample.cache = {from.cache, ::strnlen(from.cache, sizeof from.cache)};
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  sample.stack = {reinterpret_cast<const std::uint64_t*>(from.stack), from.frames};
  state.hooks.sampled(sample);
  return 0;
}

HeapSite HeapWatcher::State::site_of(const kmt_site& from, std::size_t event) const {
  HeapSite site;
  site.call_site = from.call_site;
  site.pages = programs[event].pages;
  if (site.pages)
    site.bytes_each = object->rodata->page_size << ((from.what - 1) & 63);
  else if (arguments[event].cache < 0)
    site.bytes_each = from.what;
  site.cache = text_of(from.cache, sizeof from.cache);
  site.context = static_cast<AllocationContext>(from.context);
  site.process = from.process;
  site.comm = text_of(from.comm, sizeof from.comm);
  site.cgroup = from.cgroup;
  site.events = from.events;
  site.failed = from.failed;
  site.requested = from.requested;
  site.allocated = from.allocated;
  return site;
}

// Undoes add_to_filter() of heap.bpf.c, while programs may add other objects.
void HeapWatcher::State::take_from_filter(std::uint64_t pointer) {
  const std::uint64_t hash = (pointer >> 3) * object->rodata->hash_seed >> 48;
  std::atomic_ref word(object->bss->filter[hash / 8]);
  word.fetch_sub(std::uint64_t{1} << hash % 8 * 8);
}

HeapWatcher::HeapWatcher(const HeapRequest& request, HeapHooks hooks)
    : state_(std::make_unique<State>(request, std::move(hooks))) {
  const int possible = libbpf_num_possible_cpus();
  if (possible < 0) throw_bpf_error("Cannot determine the number of CPUs", -possible);
  state_->cpus = static_cast<std::uint32_t>(possible);
  state_->leave_out();
  state_->size_maps();
  state_->fill_constants();
  state_->attach();
}

HeapWatcher::~HeapWatcher() = default;
HeapWatcher::HeapWatcher(HeapWatcher&&) noexcept = default;

void HeapWatcher::drain() {
  if (!state_->ring) return;
  if (const int error = ring_buffer__consume(state_->ring); error < 0)
    throw_bpf_error("Cannot read the ring buffer", -error);
}

std::vector<HeapSite> HeapWatcher::take_sites() {
  State& state = *state_;
  std::vector<HeapSite> taken;
  if (!state.request.sites) return taken;
  const std::uint32_t generation = state.object->bss->generation;
  *const_cast<volatile __u32*>(&state.object->bss->generation) = 1 - generation;
  wait_for_running_programs();
  const std::uint32_t tables = state.cpus * KMT_HEAP_ALLOCATIONS;
  for (std::uint32_t table = 0; table < tables; ++table) {
    kmt_site* const first =
        state.tables.as<kmt_site>() + std::size_t{generation * tables + table} * state.sites_per_table;
    for (std::uint32_t i = 0; i < state.sites_per_table; ++i) {
      if (first[i].events == 0) continue;
      taken.push_back(state.site_of(first[i], table % KMT_HEAP_ALLOCATIONS));
      first[i] = {};
    }
  }
  return taken;
}

CacheCounts HeapWatcher::read_caches() const { return state_->caches.read(state_->object->bss->uncounted_objects); }

HeapLosses HeapWatcher::losses() const {
  const kmt_heap_losses& from = state_->object->bss->losses;
  HeapLosses losses;
  losses.samples = from.samples;
  losses.ends = from.ends;
  losses.unfollowed = from.unfollowed;
  losses.no_stack = from.no_stack;
  losses.sites = from.sites;
  losses.site_bytes = from.site_bytes;
  for (std::size_t event = 0; event < state_->programs.size(); ++event)
    if (const bpf_program* const program = state_->programs[event].program)
      (is_free(event) ? losses.missed_frees : losses.missed) += missed_runs(program);
  losses.not_followed_processes = state_->object->bss->processes_not_followed;
  return losses;
}

bool HeapWatcher::is_followed(std::uint64_t pointer) {
  bpf_map* const followed = state_->object->maps.followed;
  std::uint64_t state = KMT_ENDED;
  if (bpf_map__lookup_elem(followed, &pointer, sizeof pointer, &state, sizeof state, 0) != 0) return false;
  if (state == KMT_LIVES) return true;
  if (bpf_map__delete_elem(followed, &pointer, sizeof pointer, 0) == 0) state_->take_from_filter(pointer);
  return false;
}

ProgramRuns HeapWatcher::runs(std::string_view event) const {
  ProgramRuns runs;
  for (const HeapProgram& program : state_->programs)
    if (program.program && (event.empty() || event == program.name)) runs += runs_of(program.program);
  return runs;
}

std::uint64_t HeapWatcher::memory() const { return memory_of_maps(state_->object->obj); }
std::uint64_t HeapWatcher::ring_bytes() const { return state_->ring != nullptr ? state_->request.ring_bytes : 0; }
const std::vector<EventName>& HeapWatcher::missing() const { return state_->missing; }

}  // namespace kmt
