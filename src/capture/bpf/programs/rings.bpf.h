// SPDX-License-Identifier: GPL-2.0-or-later
// Writes entries into rings (records.h), including the parts that all entries have: task and context.
#pragma once

#include "capture/bpf/programs/records.h"

#include "capture/bpf/programs/context.bpf.h"
#include "capture/bpf/programs/selection.bpf.h"

const volatile __u32 rings_of_cpu = 1;
const volatile __u64 ring_bytes = 8;
const volatile __u64 ring_mask = 0;    // ring_bytes - 8
const volatile __u32 own_process = 0;  // process ID of the recorder; 0: unknown

// The number of elements and the size of a ring are set when the programs are loaded. There are rings_of_cpu elements
// for each CPU.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, 1);
  __uint(key_size, sizeof(u32));
  __uint(value_size, 4096);
} rings SEC(".maps");

static __always_inline bool is_wanted(u32 process, u8 flags, bool is_free) {
  if ((only_processes || only_cgroup) && !selected()) return false;
  return is_free || !own_process || process != own_process || flags;
}

// An unfinished entry. kmt_ring.begun differs from kmt_ring.head until the entry is complete or lost.
struct place {
  struct kmt_ring* ring;
  u64 head;
  u64 time_ns;
};

#define KMT_ONCE(what) (*(volatile __typeof__(what)*)&(what))

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

// The time is read after the mark for the start of the entry is visible to other CPUs. Therefore, all entries that the
// reader found before it found this mark are older than the new entry.
static __always_inline bool begin_in(struct place* place, struct kmt_ring* ring, u32 most_bytes) {
  place->ring = ring;
  place->head = KMT_ONCE(ring->head);
  KMT_ONCE(ring->begun) = place->head + 1;
  place->time_ns = bpf_ktime_get_ns();
  most_bytes += 2 * sizeof(struct kmt_entry) + sizeof(u64);  // room for a preceding entry about lost events
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

static __always_inline bool begin(struct place* place, u32 cpu, u32 number, u32 most_bytes) {
  const u32 key = cpu * rings_of_cpu + number;
  struct kmt_ring* ring = bpf_map_lookup_elem(&rings, &key);
  return ring && begin_in(place, ring, most_bytes);
}

static __always_inline void end(const struct place* place, struct kmt_entry* entry, u32 event, u32 words, s32 thread,
                                u8 flags, bool is_nested) {
  entry->time_ns = place->time_ns;
  entry->task = thread;
  entry->event = event;
  entry->words = words;
  entry->flags = flags;
  entry->is_nested = is_nested;
  place->ring->lost = 0;  // the preceding entry has reported the loss
  const u64 head = place->head + sizeof *entry + words * sizeof(u64);
  KMT_ONCE(place->ring->head) = head;
  KMT_ONCE(place->ring->begun) = head;
}
