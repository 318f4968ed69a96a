// SPDX-License-Identifier: GPL-2.0-or-later
// Who allocates, in two ways that can be had together: exact sums by site, kept inside the kernel; and samples, with
// stacks, that are followed until they are freed.
#include "capture/bpf/heap.h"

#include "capture/bpf/context.bpf.h"
#include "capture/bpf/poisson.h"
#include "capture/bpf/selection.bpf.h"
#include "capture/bpf/tracepoint.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct kmt_arguments arguments[KMT_HEAP_EVENTS] = {};
const volatile __u64 page_size = 4096;
const volatile __u32 cpus = 1;
const volatile __u8 wants_sites = 0;
const volatile __u32 sites_per_table = 1;  // a power of two
const volatile __u64 mean_bytes = 0;       // between samples; 0: none
const volatile __u32 log2_table[KMT_LOG2_STEPS + 1] = {};
const volatile __u64 hash_seed = 1;  // odd

// The half of `sites` that is written to; who reads the other one has waited until nobody writes to it any more.
__u32 generation = 0;

// As many bytes to go to the next sample of each program on each CPU.
struct sampler {
  s64 bytes_left;  // to the next sample
  u64 started;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct sampler);
} samplers SEC(".maps");

// Generations of CPUs of programs of sites.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_site);
} sites SEC(".maps");

// Where each program on each CPU puts a sample together.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_sample);
} scratch SEC(".maps");

// The sampled objects that live, by address.
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

// A byte for each hash: how many objects of `followed` have it. Most frees see a 0 and are done.
__u64 filter[KMT_FILTER_SLOTS / 8] = {};

struct kmt_heap_losses losses = {};

static __always_inline u32 hash_of(u64 pointer) { return (pointer >> 3) * hash_seed >> 48; }

static __always_inline u32 followed_with(u32 hash) {
  return filter[hash / 8 & (KMT_FILTER_SLOTS / 8 - 1)] >> hash % 8 * 8 & 0xff;
}

static __always_inline void add_to_filter(u32 hash, s64 count) {
  __sync_fetch_and_add(&filter[hash / 8 & (KMT_FILTER_SLOTS / 8 - 1)], (u64)count << hash % 8 * 8);
}

static __always_inline void stop_following(u64 pointer, bool replaced) {
  const u32 hash = hash_of(pointer);
  if (!followed_with(hash) || bpf_map_delete_elem(&followed, &pointer) != 0) return;
  add_to_filter(hash, -1);
  struct kmt_sample_end end = {pointer, bpf_ktime_get_ns(), replaced};
  if (bpf_ringbuf_output(&ring, &end, sizeof end, BPF_RB_NO_WAKEUP) != 0) __sync_fetch_and_add(&losses.ends, 1);
}

static __always_inline bool follow(u64 pointer) {
  const u32 hash = hash_of(pointer);
  const u64 yes = 1;
  if (followed_with(hash) >= KMT_MOST_IN_FILTER_SLOT) return false;
  if (bpf_map_update_elem(&followed, &pointer, &yes, BPF_NOEXIST) != 0) return false;
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
  bool failed;
};

static __always_inline void read_name(char* to, const struct kmem_cache* cache) {
  const char* name = BPF_CORE_READ(cache, name);
  bpf_probe_read_kernel_str(to, KMT_CACHE_NAME_BYTES, name);
}

static __always_inline void count_site(const struct allocation* of, u32 table) {
  const u32 process = of->context == KMT_IN_TASK ? bpf_get_current_pid_tgid() >> 32 : 0;
  const u32 first = (generation * cpus * KMT_HEAP_ALLOCATIONS + table) * sites_per_table;
  u64 hash = (of->call_site ^ of->what << 17 ^ process * 0x9e3779b97f4a7c15ull) * 0xff51afd7ed558ccdull;
  hash ^= hash >> 32;
  struct kmt_site* site = 0;
  for (u32 i = 0; i < KMT_PROBES; ++i) {
    const u32 place = first + ((hash + i) & (sites_per_table - 1));
    site = bpf_map_lookup_elem(&sites, &place);
    if (!site) return;
    if (site->events == 0) {
      site->call_site = of->call_site;
      site->what = of->what;
      site->process = process;
      site->context = of->context;
      site->cgroup = bpf_get_current_cgroup_id();
      bpf_get_current_comm(site->comm, sizeof site->comm);
      if (of->cache) read_name(site->cache, of->cache);
      break;
    }
    if (site->call_site == of->call_site && site->what == of->what && site->process == process &&
        site->context == of->context)
      break;
    site = 0;
  }
  if (!site) {
    __sync_fetch_and_add(&losses.sites, 1);
    if (!of->failed) __sync_fetch_and_add(&losses.site_bytes, of->amount.allocated);
    return;
  }
  site->events += 1;
  if (of->failed) {
    site->failed += 1;
    return;
  }
  site->requested += of->amount.requested;
  site->allocated += of->amount.allocated;
}

static __always_inline void emit_sample(void* context, const struct allocation* of, enum kmt_heap_event event,
                                        u32 table) {
  struct kmt_sample* sample = bpf_map_lookup_elem(&scratch, &table);
  if (!sample) return;
  const u64 ids = bpf_get_current_pid_tgid();
  sample->pointer = of->pointer;
  sample->time_ns = bpf_ktime_get_ns();
  sample->call_site = of->call_site;
  sample->requested = of->amount.requested;
  sample->allocated = of->amount.allocated;
  sample->cgroup = bpf_get_current_cgroup_id();
  sample->process = ids >> 32;
  sample->task = (u32)ids;
  sample->event = event;
  sample->context = of->context;
  bpf_get_current_comm(sample->comm, sizeof sample->comm);
  sample->cache[0] = 0;
  if (of->cache) read_name(sample->cache, of->cache);
  const long bytes = bpf_get_stack(context, sample->stack, sizeof sample->stack, 0);
  sample->frames = bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
  if (sample->frames == 0) __sync_fetch_and_add(&losses.no_stack, 1);
  sample->followed = follow(of->pointer);
  if (!sample->followed) __sync_fetch_and_add(&losses.unfollowed, 1);
  u64 size = sizeof *sample - sizeof sample->stack + (u64)sample->frames * sizeof(u64);
  if (size > sizeof *sample) size = sizeof *sample;
  if (bpf_ringbuf_output(&ring, sample, size, BPF_RB_NO_WAKEUP) != 0) __sync_fetch_and_add(&losses.samples, 1);
}

static __always_inline bool is_sampled(u64 bytes, struct sampler* sampler) {
  sampler->bytes_left -= bytes;
  if (sampler->bytes_left > 0) return false;
  // The process has no memory: it begins anew behind this allocation. So it did before the first one, which is drawn
  // for here.
  u64 next = kmt_bytes_to_next_sample(bpf_get_prandom_u32(), mean_bytes, log2_table);
  bool sampled = true;
  if (!sampler->started) {
    sampler->started = 1;
    sampled = next < bytes;
    next = sampled ? kmt_bytes_to_next_sample(bpf_get_prandom_u32(), mean_bytes, log2_table) : next - bytes;
  }
  sampler->bytes_left = next + 1;
  return sampled;
}

static __always_inline int allocated(u64* context, enum kmt_heap_event event) {
  const volatile struct kmt_arguments* places = &arguments[event];
  struct allocation of = {};
  of.pointer = argument(context, places->pointer);
  of.failed = failed(context, places);
  // A followed object at this address was freed on a path without tracepoint.
  if (mean_bytes && !of.failed) stop_following(of.pointer, true);
  if ((only_processes || only_cgroup) && !selected()) return 0;
  of.amount = amount_of(context, places, page_size);
  const u32 table = bpf_get_smp_processor_id() * KMT_HEAP_ALLOCATIONS + event;
  struct sampler* sampler = bpf_map_lookup_elem(&samplers, &table);
  if (!sampler) return 0;
  const bool sampled = mean_bytes && !of.failed && is_sampled(of.amount.allocated, sampler);
  if (!wants_sites && !sampled) return 0;
  if (places->call_site >= 0) of.call_site = argument(context, places->call_site);
  if (places->cache >= 0) of.cache = (const struct kmem_cache*)argument(context, places->cache);
  of.what = places->cache >= 0   ? (u64)of.cache
            : places->order >= 0 ? 1 + argument(context, places->order)
                                 : of.amount.allocated;
  of.context = current_context();
  if (wants_sites) count_site(&of, table);
  if (sampled) emit_sample(context, &of, event, table);
  return 0;
}

static __always_inline int freed(u64* context, enum kmt_heap_event event) {
  stop_following(argument(context, arguments[event].pointer), false);
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
