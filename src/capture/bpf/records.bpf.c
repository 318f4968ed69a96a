// SPDX-License-Identifier: GPL-2.0-or-later
// Takes every event of kernel memory, whole, into rings that are mapped by who reads them.
#include "capture/bpf/records.h"

#include "capture/bpf/context.bpf.h"
#include "capture/bpf/current_task.bpf.h"
#include "capture/bpf/selection.bpf.h"
#include "capture/bpf/tracepoint.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct kmt_taken taken[KMT_EVENT_COUNT] = {};
const volatile __u32 rings_of_cpu = 1;
const volatile __u32 kernel_ring = 0;  // number of the ring of the kernel's own records
const volatile __u64 ring_bytes = 8;
const volatile __u64 ring_mask = 0;  // ring_bytes - 8
const volatile __u32 tables_of_cpu = 0;
const volatile __u32 own_process = 0;  // the recorder; 0: not known
const volatile __u8 wants_stacks = 0;

// As many as there are CPUs, times rings_of_cpu. How large one is is set when the programs are loaded.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(u32));
  __uint(value_size, 4096);
} rings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_cache);
} caches SEC(".maps");

// Counts the caches that were destroyed: another one may be at the address of a known one.
__u32 cache_generation = 0;

// Interrupts that are no devices' (x86, include/asm/trace/irq_vectors.h); loaded where the kernel has them.
KMT_INTERRUPT(local_timer_entry, 0, 1)
KMT_INTERRUPT(local_timer_exit, 0, -1)
KMT_INTERRUPT(call_function_entry, 0, 1)
KMT_INTERRUPT(call_function_exit, 0, -1)
KMT_INTERRUPT(call_function_single_entry, 0, 1)
KMT_INTERRUPT(call_function_single_exit, 0, -1)
KMT_INTERRUPT(irq_work_entry, 0, 1)
KMT_INTERRUPT(irq_work_exit, 0, -1)

// As in common_flags: TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ of include/linux/trace_events.h.
static __always_inline u8 current_flags(u32 cpu) {
  const struct interrupts* here = interrupts_of(cpu);
  return here ? (here->hard > 0 ? 0x08 : 0) | (here->soft > 0 ? 0x10 : 0) : 0;
}

// An entry that is being written. Its ring is begun until it is ended or lost.
struct place {
  struct kmt_ring* ring;
  u64 head;
  u64 time_ns;
};

#define KMT_ONCE(what) (*(volatile u64*)&(what))

static __always_inline struct kmt_entry* entry_at(const struct place* place) {
  return (struct kmt_entry*)(place->ring->data + (place->head & ring_mask));
}

static __always_inline void lose(const struct place* place) {
  struct kmt_ring* ring = place->ring;
  if (ring->lost == 0) ring->lost_since_ns = place->time_ns;
  ring->lost += 1;
  ring->all_lost += 1;
  KMT_ONCE(ring->begun) = KMT_ONCE(ring->head);
}

// The time is read when everybody can see that an entry has begun: what others have seen until then is older.
static __always_inline bool begin(struct place* place, u32 cpu, u32 number, u32 most_bytes) {
  const u32 key = cpu * rings_of_cpu + number;
  struct kmt_ring* ring = bpf_map_lookup_elem(&rings, &key);
  if (!ring) return false;
  place->ring = ring;
  place->head = KMT_ONCE(ring->head);
  KMT_ONCE(ring->begun) = place->head + 1;
  place->time_ns = bpf_ktime_get_ns();
  most_bytes += 2 * sizeof(struct kmt_entry) + sizeof(u64);  // of a loss, in front
  if (place->head + most_bytes - KMT_ONCE(ring->tail) > ring_bytes) {
    lose(place);
    return false;
  }
  if (ring->lost) {
    struct kmt_entry* loss = entry_at(place);
    loss->time_ns = ring->lost_since_ns;
    loss->event = KMT_ENTRY_LOST;
    loss->words = 1;
    *(u64*)(loss + 1) = ring->lost;
    place->head += sizeof *loss + sizeof(u64);
  }
  return true;
}

static __always_inline void end(const struct place* place, struct kmt_entry* entry, u32 event, u32 words,
                                const struct task_ids* ids, u8 flags, bool is_nested) {
  entry->time_ns = place->time_ns;
  entry->task = (s32)ids->thread;
  entry->event = event;
  entry->words = words;
  entry->flags = flags;
  entry->is_nested = is_nested;
  entry->cgroup = ids->cgroup;
  place->ring->lost = 0;  // an entry in front of this one says it
  const u64 head = place->head + sizeof *entry + words * sizeof(u64);
  KMT_ONCE(place->ring->head) = head;
  KMT_ONCE(place->ring->begun) = head;
}

static __always_inline u32 take_stack(void* context, u64* to) {
  const long bytes = bpf_get_stack(context, to, KMT_RECORD_FRAMES * sizeof(u64), 0);
  return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

static __always_inline bool is_wanted(u32 process, u8 flags, bool is_free) {
  if ((only_processes || only_cgroup) && !selected()) return false;
  return is_free || !own_process || process != own_process || flags;
}

// "kmem_cac" and "he": the one whose objects are caches.
#define CACHES_NAME_BEGIN 0x6361635f6d656d6bull
#define CACHES_NAME_END 0x6568

static __always_inline bool is_of_caches(const struct kmt_cache* cache) {
  return *(const u64*)cache->name == CACHES_NAME_BEGIN && *(const u16*)(cache->name + 8) == CACHES_NAME_END &&
         cache->name[10] == 0;
}

// The slot of a cache that is not where it is looked for first, or may have become another one since. Negative: the
// table is full.
static __noinline s32 find_cache(const struct kmem_cache* cache, u32 first, u32 hash, u32 generation) {
  struct kmt_cache fresh = {};
  const struct cache_sizes sizes = sizes_of(cache);
  fresh.pointer = (u64)cache;
  fresh.generation = generation;
  fresh.size = sizes.size;
  fresh.object_size = sizes.object_size;
  fresh.flags = BPF_CORE_READ(cache, flags);
  const char* name = BPF_CORE_READ(cache, name);
  bpf_probe_read_kernel_str(fresh.name, sizeof fresh.name, name);
  for (u32 i = 0; i < KMT_CACHE_PROBES; ++i) {
    const u32 slot = (hash + i) & (KMT_CACHES - 1);
    const u32 key = first + slot;
    struct kmt_cache* known = bpf_map_lookup_elem(&caches, &key);
    if (!known) return -1;
    if (known->pointer == 0) *known = fresh;
    if (known->pointer != fresh.pointer || known->size != fresh.size || known->object_size != fresh.object_size ||
        known->flags != fresh.flags)
      continue;
    u64 differs = 0;
    for (u32 at = 0; at < KMT_RECORDED_NAME_BYTES; at += sizeof(u64))
      differs |= *(u64*)(known->name + at) ^ *(u64*)(fresh.name + at);
    if (differs) continue;
    known->generation = generation;
    return (s32)slot;
  }
  return -1;
}

static __always_inline s32 number_of_cache(const struct kmem_cache* cache, u32 cpu, u32 table, bool is_freed_from) {
  const u32 first = (cpu * tables_of_cpu + table) * KMT_CACHES;
  const u32 hash = ((u64)cache >> 6) * 0x9e3779b97f4a7c15ull >> 32;
  const u32 generation = *(volatile u32*)&cache_generation;
  u32 key = first + (hash & (KMT_CACHES - 1));
  const struct kmt_cache* known = bpf_map_lookup_elem(&caches, &key);
  if (!known) return -1;
  s32 slot = (s32)(key - first);
  if (known->pointer != (u64)cache || known->generation != generation) {
    slot = find_cache(cache, first, hash, generation);
    if (slot < 0) return -1;
    key = first + (u32)slot;
    known = bpf_map_lookup_elem(&caches, &key);
    if (!known) return -1;
  }
  if (is_freed_from && is_of_caches(known)) __sync_fetch_and_add(&cache_generation, 1);
  return slot;
}

// Whether this event came while the program that should take it is at work on this CPU, so that the kernel did not run
// it.
static __always_inline bool is_missed(u32 cpu, const volatile struct kmt_taken* what) {
  u32 key = cpu * rings_of_cpu + what->ring;
  struct kmt_ring* ring = bpf_map_lookup_elem(&rings, &key);
  if (!ring || KMT_ONCE(ring->begun) == KMT_ONCE(ring->head)) return false;
  key = cpu * rings_of_cpu + what->nested_ring;
  ring = bpf_map_lookup_elem(&rings, &key);
  if (ring) ring->nested_seen += 1;
  return ring != 0;
}

static __always_inline int take(u64* context, enum kmt_event event, bool is_nested) {
  const volatile struct kmt_taken* what = &taken[event];
  const u32 cpu = bpf_get_smp_processor_id();
  if (is_nested && !is_missed(cpu, what)) return 0;
  const u32 ring = is_nested ? what->nested_ring : what->ring;
  const u32 table = is_nested ? what->nested_table : what->table;
  // A cache that goes is noticed whoever frees it, and whether or not that is wanted.
  s32 cache = 0;
  if (what->cache >= 0)
    cache = number_of_cache((const struct kmem_cache*)argument(context, what->cache), cpu, table, what->is_free);
  if (!what->is_recorded) return 0;
  const struct task_ids ids = current_task();
  const u8 flags = current_flags(cpu);
  if (!is_wanted(ids.process, flags, what->is_free)) return 0;
  struct place place;
  u32 words = what->arguments;
  if (!begin(&place, cpu, ring, (words + (wants_stacks ? KMT_RECORD_FRAMES : 0)) * sizeof(u64))) return 0;
  if (cache < 0) {
    lose(&place);
    return 0;
  }
  struct kmt_entry* entry = entry_at(&place);
  u64* to = (u64*)(entry + 1);
#pragma unroll
  for (s32 i = 0; i < KMT_MOST_TAKEN; ++i)
    if (i < what->arguments) to[i] = i == what->cache ? (u64)cache : argument(context, (s8)i);
  if (wants_stacks) words += take_stack(context, to + words);
  end(&place, entry, event, words, &ids, flags, is_nested);
  return 0;
}

#define KMT_EVENT(system, name, outcome) \
  SEC("raw_tp/" #name)                   \
  int take_##name(u64* context) { return take(context, KMT_EVENT_##name, false); }
#include "capture/bpf/event_names.def"
#undef KMT_EVENT

// Taking a stack is long enough that interrupts often come meanwhile, and many events with each: soft interrupts free
// what waited for RCU. A second program takes those of the first one's kind.
#define KMT_EVENT(system, name, outcome) \
  SEC("raw_tp/" #name)                   \
  int nested_##name(u64* context) { return take(context, KMT_EVENT_##name, true); }
#include "capture/bpf/event_names.def"
#undef KMT_EVENT

// Any event, as the kernel itself would record it, which takes longer: what has fields that are no arguments.
SEC("tp")
int take_kernel_record(void* context) {
  const u64 cookie = bpf_get_attach_cookie(context);
  const u32 cpu = bpf_get_smp_processor_id();
  const struct task_ids ids = current_task();
  const u8 flags = current_flags(cpu);
  if (!is_wanted(ids.process, flags, cookie >> 16 & 1)) return 0;
  struct place place;
  if (!begin(&place, cpu, kernel_ring, (KMT_MOST_KERNEL_WORDS + KMT_RECORD_FRAMES) * sizeof(u64))) return 0;
  struct kmt_entry* entry = entry_at(&place);
  u64* to = (u64*)(entry + 1);
  u32 words = cookie >> 8 & KMT_MOST_KERNEL_WORDS;
  bpf_probe_read_kernel(to, words * sizeof(u64), (const u8*)context + sizeof(u64));
  if (wants_stacks) words += take_stack(context, to + words);
  end(&place, entry, cookie & 0xff, words, &ids, flags, false);
  return 0;
}
