// SPDX-License-Identifier: GPL-2.0-or-later
// Writes complete records of all kernel memory events into rings that the reader maps.
#include "capture/bpf/programs/records.h"

#include "capture/bpf/programs/current_task.bpf.h"
#include "capture/bpf/programs/rings.bpf.h"
#include "capture/bpf/programs/tracepoint.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct kmt_taken taken[KMT_EVENT_COUNT] = {};
const volatile __u32 kernel_ring = 0;  // number of the ring for copies of the kernel's own records
const volatile __u32 tables_of_cpu = 0;
const volatile __u8 wants_stacks = 0;
const volatile __u8 wants_user_stacks = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __type(key, u32);
  __type(value, struct kmt_cache);
} caches SEC(".maps");

// Number of caches that were destroyed so far. A new cache may have the address of a destroyed one, so slots of older
// generations must be checked again.
__u32 cache_generation = 0;

// An enum kmt_recording. Programs are attached and detached one by one, but memory events start and end at the same
// time. Events about tasks and system calls start earlier, when their programs are attached. The variable is next to
// cache_generation, because most events read both variables.
__u32 recording = KMT_RECORDING_BEGINS;

static __always_inline u32 take_stack(void* context, u64* to) {
  const long bytes = bpf_get_stack(context, to, KMT_RECORD_FRAMES * sizeof(u64), 0);
  return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

#define USER_STACK (1ull << 8)  // BPF_F_USER_STACK in include/uapi/linux/bpf.h

// Returns 0 in an interrupt, because the interrupted process did not cause the event.
static __always_inline u32 take_user_stack(void* context, u64* to, u8 flags) {
  if (flags != 0) return 0;
  const long bytes = bpf_get_stack(context, to, KMT_USER_FRAMES * sizeof(u64), USER_STACK);
  return bytes > 0 ? (u32)bytes / sizeof(u64) : 0;
}

// Returns the number of words written, at most KMT_STACK_WORDS.
static __always_inline u32 take_stacks(void* context, u64* to, u32 process, u8 flags) {
  if (!wants_user_stacks) return wants_stacks ? take_stack(context, to) : 0;
  u32 kernel = wants_stacks ? take_stack(context, to + 1) : 0;
  if (kernel > KMT_RECORD_FRAMES) kernel = KMT_RECORD_FRAMES;
  to[0] = (u64)kernel << 32 | process;
  return 1 + kernel + take_user_stack(context, to + 1 + kernel, flags);
}

// The cache name "kmem_cache" as numbers, for a fast comparison. The objects of this cache are the descriptors of all
// caches, so a free of such an object is the end of a cache.
#define CACHES_NAME_BEGIN 0x6361635f6d656d6bull
#define CACHES_NAME_END 0x6568

static __always_inline bool is_of_caches(const struct kmt_cache* cache) {
  return *(const u64*)cache->name == CACHES_NAME_BEGIN && *(const u16*)(cache->name + 8) == CACHES_NAME_END &&
         cache->name[10] == 0;
}

// Finds the slot of a cache. Called if the cache is not in the first possible slot, or if caches were destroyed since
// that slot was checked. Returns a negative number if the table is full.
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

// True if the kernel did not run the event's first program, because it was already running on this CPU.
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
  if (KMT_ONCE(recording) != KMT_RECORDING_RUNS) return 0;
  const volatile struct kmt_taken* what = &taken[event];
  const u32 cpu = bpf_get_smp_processor_id();
  if (is_nested && !is_missed(cpu, what)) return 0;
  const u32 ring = is_nested ? what->nested_ring : what->ring;
  const u32 table = is_nested ? what->nested_table : what->table;
  // The number of the cache is looked up even if the task is not selected, to notice when a cache is destroyed.
  s32 cache = 0;
  if (what->cache >= 0)
    cache = number_of_cache((const struct kmem_cache*)argument(context, what->cache), cpu, table, what->is_free);
  if (!what->is_recorded) return 0;
  const struct task_struct* task = current_task();
  const struct task_ids ids = ids_of(task);
  const u8 flags = flags_of(task);
  if (!is_wanted(ids.process, flags, what->is_free)) return 0;
  struct place place;
  u32 words = what->arguments;
  if (!begin(&place, cpu, ring, (words + (wants_stacks || wants_user_stacks ? KMT_STACK_WORDS : 0)) * sizeof(u64)))
    return 0;
  if (cache < 0) {
    lose(&place);
    return 0;
  }
  struct kmt_entry* entry = entry_at(&place);
  u64* to = (u64*)(entry + 1);
#pragma unroll
  for (s32 i = 0; i < KMT_MOST_TAKEN; ++i)
    if (i < what->arguments) to[i] = i == what->cache ? (u64)cache : argument(context, (s8)i);
  words += take_stacks(context, to + words, ids.process, flags);
  end(&place, entry, event, words, (s32)ids.thread, flags, is_nested);
  return 0;
}

#define KMT_EVENT(system, name, outcome) \
  SEC("raw_tp/" #name)                   \
  int take_##name(u64* context) { return take(context, KMT_EVENT_##name, false); }
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT

// Recording a stack takes so long that many interrupts with many events may occur meanwhile. For example, softirqs free
// objects that waited for RCU. A second program records the events that interrupt the first one.
#define KMT_EVENT(system, name, outcome) \
  SEC("raw_tp/" #name)                   \
  int nested_##name(u64* context) { return take(context, KMT_EVENT_##name, true); }
#include "capture/bpf/programs/event_names.def"
#undef KMT_EVENT

// Copies the kernel's record of any event. This is slower than taking the arguments, but includes fields that are not
// arguments.
SEC("tp")
int take_kernel_record(void* context) {
  if (KMT_ONCE(recording) == KMT_RECORDING_IS_OVER) return 0;
  const u64 cookie = bpf_get_attach_cookie(context);
  const u32 cpu = bpf_get_smp_processor_id();
  const struct task_struct* task = current_task();
  const struct task_ids ids = ids_of(task);
  const u8 flags = flags_of(task);
  const bool of_all = cookie >> 17 & 1;
  if (!of_all && !is_wanted(ids.process, flags, cookie >> 16 & 1)) return 0;
  struct place place;
  if (!begin(&place, cpu, kernel_ring, (KMT_MOST_KERNEL_WORDS + KMT_STACK_WORDS) * sizeof(u64))) return 0;
  struct kmt_entry* entry = entry_at(&place);
  u64* to = (u64*)(entry + 1);
  u32 words = cookie >> 8 & KMT_MOST_KERNEL_WORDS;
  bpf_probe_read_kernel(to, words * sizeof(u64), (const u8*)context + sizeof(u64));
  words += take_stacks(context, to + words, ids.process, flags);
  end(&place, entry, cookie & 0xff, words, (s32)ids.thread, flags, false);
  return 0;
}
