// SPDX-License-Identifier: GPL-2.0-or-later
// Finds who allocates memory, in two ways that can be combined. One way is exact sums for each call site, computed
// inside the kernel. The other way is samples with stacks; sampled objects are followed until they are freed.
#include "capture/bpf/programs/heap.h"

#include "capture/bpf/programs/cache_counters.bpf.h"
#include "capture/bpf/programs/context.bpf.h"
#include "capture/bpf/programs/current_task.bpf.h"
#include "capture/bpf/programs/poisson.h"
#include "capture/bpf/programs/selection.bpf.h"
#include "capture/bpf/programs/tracepoint.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define ENOENT 2           // include/uapi/asm-generic/errno-base.h
#define MIGRATE_MOVABLE 1  // include/linux/mmzone.h: user memory and the page cache

const volatile struct kmt_arguments arguments[KMT_HEAP_EVENTS] = {};
const volatile __u64 page_size = 4096;
const volatile __u32 cpus = 1;
const volatile __u8 no_movable_pages = 0;
const volatile __u8 wants_sites = 0;
const volatile __u8 names_threads = 0;     // 1: samples have the name of the thread; 0: the name of the process
const volatile __u32 sites_per_table = 1;  // size of a table in elements, a power of two
const volatile __u64 mean_bytes = 0;       // average number of bytes between two samples; 0: no samples
const volatile __u32 log2_table[KMT_LOG2_STEPS + 1] = {};
const volatile __u64 hash_seed = 1;  // factor of the hash function; an odd number

// Number of the half of `sites` to which the programs write, 0 or 1. The reader reads the other half after the last
// program that writes to it has ended.
__u32 generation = 0;

// The state of each program on each CPU, which is written at every event. The alignment keeps the states of CPUs on
// separate cache lines, wherever the map begins.
struct samplers_of_cpu {
  struct kmt_sampler of[KMT_HEAP_ALLOCATIONS];
} __attribute__((aligned(KMT_APART)));

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct samplers_of_cpu);
} samplers SEC(".maps");

// The tables of sites. An index consists of the number of the generation, the CPU, the program and the site.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_site);
} sites SEC(".maps");

// The last large kmalloc of each CPU, which may be the first event of a pair of duplicates. Only the program of kmalloc
// writes it.
#define KMT_NO_SITE (~0u)
#define KMT_AT_ONCE_NS 100000  // maximum time between both events of a pair; long enough even on an emulated machine
#define KMT_LAST_EVENT_FRAMES 16

struct last_event {
  u64 pointer;  // address of the object; NULL: no event is stored
  u64 time_ns;
  u64 requested;
  u64 allocated;
  u64 call_site;
  u32 site;      // index in `sites`, or KMT_NO_SITE
  u32 followed;  // true: the allocation was sampled and is followed
  u64 frames;
  u64 stack[KMT_LAST_EVENT_FRAMES];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct last_event);
} last_events SEC(".maps");

// Scratch memory for a sample, for each program on each CPU.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_sample);
} scratch SEC(".maps");

// The live sampled objects, with their address as key and enum kmt_followed as value.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);
  __type(key, u64);
  __type(value, u64);
} followed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);
} ring SEC(".maps");

// One byte for each hash: the number of followed objects with this hash. For most frees this number is 0, and nothing
// else needs to be done.
__u64 filter[KMT_FILTER_SLOTS / 8] = {};

struct kmt_heap_losses losses = {};

static __always_inline u32 hash_of(u64 pointer) { return (pointer >> 3) * hash_seed >> 48; }

static __always_inline u32 followed_with(u32 hash) {
  return filter[hash / 8 & (KMT_FILTER_SLOTS / 8 - 1)] >> hash % 8 * 8 & 0xff;
}

static __always_inline void add_to_filter(u32 hash, s64 count) {
  __sync_fetch_and_add(&filter[hash / 8 & (KMT_FILTER_SLOTS / 8 - 1)], (u64)count << hash % 8 * 8);
}

static __always_inline bool emit_end(u64 pointer, enum kmt_end why) {
  struct kmt_sample_end end = {pointer, bpf_ktime_get_ns(), why};
  if (bpf_ringbuf_output(&ring, &end, sizeof end, BPF_RB_NO_WAKEUP) == 0) return true;
  __sync_fetch_and_add(&losses.ends, 1);
  return false;
}

// If the map cannot delete the object now because its bucket is busy, the object is marked as ended. Its end then
// counts as lost, and the reader of the samples deletes the object (HeapWatcher::is_followed).
static __always_inline void stop_following(u64 pointer, enum kmt_end why) {
  const u32 hash = hash_of(pointer);
  if (!followed_with(hash)) return;
  u64* state = bpf_map_lookup_elem(&followed, &pointer);
  if (!state) return;
  const bool had_ended = *state == KMT_ENDED;
  const long error = bpf_map_delete_elem(&followed, &pointer);
  if (error == -ENOENT) return;
  if (error != 0) {
    *state = KMT_ENDED;
    if (!had_ended) __sync_fetch_and_add(&losses.ends, 1);
    return;
  }
  add_to_filter(hash, -1);
  if (!had_ended) emit_end(pointer, why);
}

static __always_inline bool follow(u64 pointer) {
  const u32 hash = hash_of(pointer);
  const u64 lives = KMT_LIVES;
  if (followed_with(hash) >= KMT_MOST_IN_FILTER_SLOT) return false;
  if (bpf_map_update_elem(&followed, &pointer, &lives, BPF_NOEXIST) != 0) return false;
  add_to_filter(hash, 1);
  return true;
}

struct allocation {
  u64 pointer;
  u64 call_site;
  const struct kmem_cache* cache;
  u64 what;
  struct amount amount;
  enum kmt_context context;
  struct task_ids ids;
  bool failed;
};

// Returns the element of last_events for an allocation that may be followed by a duplicate event; otherwise NULL. For a
// large kmalloc inside kvmalloc, Linux 6.18 reports first the kmalloc, and then the kvmalloc with the caller of
// kvmalloc (mm/slub.c). Only the second event is counted.
static __always_inline struct last_event* last_event_of(enum kmt_heap_event event, const struct allocation* of,
                                                        u32 cpu) {
  if (event != KMT_HEAP_kmalloc || of->failed || of->amount.allocated <= 2 * page_size) return 0;
  return bpf_map_lookup_elem(&last_events, &cpu);
}

// True if the first event is from a function that was called at `call_site`. Events with equal addresses and sizes need
// not be duplicates: they also occur in a loop that frees and allocates.
static __always_inline bool calls_the_first(u64 call_site, const struct last_event* first) {
  bool above = false;
  for (u32 i = 0; i < KMT_LAST_EVENT_FRAMES && i < first->frames; ++i) {
    if (above && first->stack[i] == call_site) return true;
    if (first->stack[i] == first->call_site) above = true;
  }
  return false;
}

static __always_inline bool is_duplicate(const struct last_event* last, const struct allocation* of, u64 now) {
  return last->pointer == of->pointer && last->requested == of->amount.requested &&
         last->allocated == of->amount.allocated && now - last->time_ns < KMT_AT_ONCE_NS &&
         calls_the_first(of->call_site, last);
}

// Stores the event in `last`. If `again` is true, the event is a duplicate. The pointer is then set to NULL, so that
// this event cannot be the first event of another pair.
static __always_inline void remember(void* context, struct last_event* last, const struct allocation* of, u64 now,
                                     bool again) {
  last->pointer = again ? 0 : of->pointer;
  last->time_ns = now;
  last->requested = of->amount.requested;
  last->allocated = of->amount.allocated;
  last->call_site = of->call_site;
  last->site = KMT_NO_SITE;
  last->followed = 0;
  const long bytes = again ? 0 : bpf_get_stack(context, last->stack, sizeof last->stack, 0);
  last->frames = bytes > 0 ? (u64)bytes / sizeof(u64) : 0;
}

static __always_inline void read_name(char* to, const struct kmem_cache* cache) {
  const char* name = BPF_CORE_READ(cache, name);
  bpf_probe_read_kernel_str(to, KMT_CACHE_NAME_BYTES, name);
}

// Subtracts the first event from its site. Returns false if programs no longer write the table of this site. In that
// case, the first event stays counted, and the duplicate is not counted.
static __always_inline bool uncount_site(const struct last_event* last) {
  if (last->site / (cpus * KMT_HEAP_ALLOCATIONS * sites_per_table) != generation) return false;
  struct kmt_site* site = bpf_map_lookup_elem(&sites, &last->site);
  if (!site) return false;
  site->events -= 1;
  site->requested -= last->requested;
  site->allocated -= last->allocated;
  return true;
}

// Returns the index of the site in `sites`, or KMT_NO_SITE.
static __always_inline u32 count_site(const struct allocation* of, u32 table) {
  const struct task_ids no_task = {};
  // A hardirq may work for the task that it interrupted; the reader decides this by the call site.
  const struct task_ids ids = of->context == KMT_IN_SOFTIRQ ? no_task : of->ids;
  const u32 first = (generation * cpus * KMT_HEAP_ALLOCATIONS + table) * sites_per_table;
  u64 hash =
      (of->call_site ^ of->what << 17 ^ ids.process * 0x9e3779b97f4a7c15ull ^ ids.cgroup << 40) * 0xff51afd7ed558ccdull;
  hash ^= hash >> 32;
  struct kmt_site* site = 0;
  u32 place = KMT_NO_SITE;
  for (u32 i = 0; i < KMT_PROBES; ++i) {
    place = first + ((hash + i) & (sites_per_table - 1));
    site = bpf_map_lookup_elem(&sites, &place);
    if (!site) return KMT_NO_SITE;
    if (site->events == 0) {
      site->call_site = of->call_site;
      site->what = of->what;
      site->process = ids.process;
      site->context = of->context;
      site->cgroup = ids.cgroup;
      read_process_name(site->comm, sizeof site->comm, current_task());
      if (of->cache) read_name(site->cache, of->cache);
      break;
    }
    if (site->call_site == of->call_site && site->what == of->what && site->process == ids.process &&
        site->context == of->context && site->cgroup == ids.cgroup)
      break;
    site = 0;
  }
  if (!site) {
    __sync_fetch_and_add(&losses.sites, 1);
    if (!of->failed) __sync_fetch_and_add(&losses.site_bytes, of->amount.allocated);
    return KMT_NO_SITE;
  }
  site->events += 1;
  if (of->failed) {
    site->failed += 1;
    return place;
  }
  site->requested += of->amount.requested;
  site->allocated += of->amount.allocated;
  return place;
}

// Writes a sample into the ring buffer. Returns true if the object is followed now. `is_followed` is true if the object
// was followed before.
static __always_inline bool emit_sample(void* context, const struct allocation* of, enum kmt_heap_event event,
                                        u32 table, bool is_followed) {
  struct kmt_sample* sample = bpf_map_lookup_elem(&scratch, &table);
  if (!sample) return false;
  sample->pointer = of->pointer;
  sample->time_ns = bpf_ktime_get_ns();
  sample->call_site = of->call_site;
  sample->requested = of->amount.requested;
  sample->allocated = of->amount.allocated;
  sample->cgroup = of->context == KMT_IN_SOFTIRQ ? 0 : of->ids.cgroup;
  sample->process = of->ids.process;
  sample->task = of->ids.thread;
  sample->event = event;
  sample->context = of->context;
  if (names_threads)
    bpf_get_current_comm(sample->comm, sizeof sample->comm);
  else
    read_process_name(sample->comm, sizeof sample->comm, current_task());
  sample->cache[0] = 0;
  if (of->cache) read_name(sample->cache, of->cache);
  const long bytes = bpf_get_stack(context, sample->stack, sizeof sample->stack, 0);
  sample->frames = bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
  if (sample->frames == 0) __sync_fetch_and_add(&losses.no_stack, 1);
  sample->followed = is_followed || follow(of->pointer);
  if (!sample->followed) __sync_fetch_and_add(&losses.unfollowed, 1);
  u64 size = sizeof *sample - sizeof sample->stack + (u64)sample->frames * sizeof(u64);
  if (size > sizeof *sample) size = sizeof *sample;
  if (bpf_ringbuf_output(&ring, sample, size, BPF_RB_NO_WAKEUP) != 0) __sync_fetch_and_add(&losses.samples, 1);
  return sample->followed;
}

static __always_inline void freed_untraced(u64 object) { stop_following(object, KMT_FREED); }

#include "capture/bpf/programs/slab_paths.bpf.h"

static __always_inline enum kmt_slab_event slab_event_of(enum kmt_heap_event event) {
  switch (event) {
    case KMT_HEAP_kmalloc: return KMT_SLAB_kmalloc;
    case KMT_HEAP_kmem_cache_alloc: return KMT_SLAB_kmem_cache_alloc;
    case KMT_HEAP_kfree: return KMT_SLAB_kfree;
    case KMT_HEAP_kmem_cache_free: return KMT_SLAB_kmem_cache_free;
    default: return KMT_NO_SLAB_EVENT;
  }
}

static __always_inline unsigned int random_number(__attribute__((unused)) void* state) { return bpf_get_prandom_u32(); }

static __always_inline int allocated(u64* context, enum kmt_heap_event event) {
  const volatile struct kmt_arguments* places = &arguments[event];
  struct allocation of = {};
  of.pointer = argument(context, places->pointer);
  of.failed = failed(context, places);
  const u32 cpu = bpf_get_smp_processor_id();
  if (event == KMT_HEAP_kmalloc) of.amount = amount_of(context, places, page_size);
  if (places->call_site >= 0) of.call_site = argument(context, places->call_site);
  struct last_event* last = last_event_of(event, &of, cpu);
  const u64 now = last ? bpf_ktime_get_ns() : 0;
  const bool again = last && is_duplicate(last, &of, now);
  // If an object at this address is still followed, it was freed by a path without a tracepoint.
  if (mean_bytes && !of.failed && !again) stop_following(of.pointer, KMT_REPLACED);
  if (no_movable_pages && places->migratetype >= 0 && (u32)argument(context, places->migratetype) == MIGRATE_MOVABLE)
    return 0;
  if ((only_processes || only_cgroup) && !selected()) return 0;
  if (!of.failed) count_object(context, places, cpu, slab_event_of(event));
  if (event != KMT_HEAP_kmalloc) of.amount = amount_of(context, places, page_size);
  const u32 table = cpu * KMT_HEAP_ALLOCATIONS + event;
  struct samplers_of_cpu* sampler = bpf_map_lookup_elem(&samplers, &cpu);
  if (!sampler) return 0;
  // A duplicate event is sampled if the first event of the pair was sampled.
  const bool sampled =
      again ? last->followed && emit_end(of.pointer, KMT_DUPLICATE)
            : mean_bytes && !of.failed &&
                  kmt_is_sampled(&sampler->of[event], of.amount.allocated, mean_bytes, log2_table, random_number, 0);
  const bool counted = wants_sites && (!again || uncount_site(last));
  if (last) remember(context, last, &of, now, again);
  if (!counted && !sampled) return 0;
  if (places->cache >= 0) of.cache = (const struct kmem_cache*)argument(context, places->cache);
  of.what = places->cache >= 0   ? (u64)of.cache
            : places->order >= 0 ? 1 + argument(context, places->order)
                                 : of.amount.allocated;
  const struct task_struct* task = current_task();
  of.ids = ids_of(task);
  of.context = context_of(task);
  const u32 site = counted ? count_site(&of, table) : KMT_NO_SITE;
  const bool followed = sampled && emit_sample(context, &of, event, table, again);
  if (last) {
    last->site = site;
    last->followed = followed;
  }
  return 0;
}

static __always_inline int freed(u64* context, enum kmt_heap_event event) {
  stop_following(argument(context, arguments[event].pointer), KMT_FREED);
  if (!counts_caches || ((only_processes || only_cgroup) && !selected())) return 0;
  count_object(context, &arguments[event], bpf_get_smp_processor_id(), slab_event_of(event));
  return 0;
}

#define KMT_ALLOCATION(name) \
  SEC("raw_tp/" #name)       \
  int on_##name(u64* context) { return allocated(context, KMT_HEAP_##name); }
#define KMT_FREE(name) \
  SEC("raw_tp/" #name) \
  int on_##name(u64* context) { return freed(context, KMT_HEAP_##name); }

KMT_ALLOCATION(kmalloc)
KMT_ALLOCATION(kmalloc_node)
KMT_ALLOCATION(kmem_cache_alloc)
KMT_ALLOCATION(kmem_cache_alloc_node)
KMT_ALLOCATION(mm_page_alloc)
KMT_FREE(kfree)
KMT_FREE(kmem_cache_free)
KMT_FREE(mm_page_free)
