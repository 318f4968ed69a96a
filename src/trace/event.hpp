// SPDX-License-Identifier: GPL-2.0-or-later
// The one event of all formats. A plain struct of one cache line; fields that a kind does not have are zero.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "trace/ids.hpp"

namespace kmt {

enum class EventKind : std::uint8_t {
  other,    // counted, not interpreted
  kmalloc,  // kmalloc, kmalloc_node
  kfree,
  cache_alloc,  // kmem_cache_alloc, kmem_cache_alloc_node
  cache_free,
  page_alloc,
  page_free,          // mm_page_free; before 3.3 mm_page_free_direct
  page_free_batched,  // comes beside a page_free, never counted as one; before 3.3 mm_pagevec_free
  page_alloc_zone_locked,
  page_pcpu_drain,
  page_alloc_extfrag,
  percpu_alloc,  // percpu_alloc_percpu; percpu_alloc_percpu_fail is one with the address 0
  percpu_free,
  vmap_alloc,     // alloc_vmap_area; a failed one has the address 0
  vmap_free,      // free_vmap_area_noflush: the area is no longer used; it is reused after a purge
  call_entry,     // of ftrace's function graph: funcgraph_entry, fgraph_retaddr_entry; kmemtrace:call_entry
  call_exit,      // funcgraph_exit; kmemtrace:call_exit
  syscall_enter,  // raw_syscalls:sys_enter: the address is the number of the system call
  syscall_exit,
};

// The context of the event, from the trace's common_flags (include/linux/trace_events.h, Linux 6.1).
struct Context {
  static constexpr std::uint8_t kHardIrq = 0x08;
  static constexpr std::uint8_t kSoftIrq = 0x10;
  static constexpr std::uint8_t kNmi = 0x40;
};

// The address of a page event that names no page: the allocation failed.
constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();
// Flags of page events.
struct PageFlags {
  static constexpr std::uint8_t kPercpuRefill = 0x01;      // page_alloc_zone_locked: for a CPU's list of free pages
  static constexpr std::uint8_t kOwnershipChanged = 0x02;  // page_alloc_extfrag: the whole page block changed its type
  static constexpr unsigned kFallbackTypeShift = 4;        // page_alloc_extfrag: the migrate type that is taken from
  static constexpr unsigned kMostFallbackType = 15;        // or more, which no kernel has
};
// Bits of Event::page_flags in the record of a user stack. Its Event::address is what UserStacks::keep() returned.
struct StackFlags {
  static constexpr std::uint8_t kUser = 0x01;
};
// The numa_node of an event that asks for none (NUMA_NO_NODE) or whose format has no such field.
constexpr std::int16_t kNoNode = -1;

// bytes_requested of a percpu allocation is for one CPU, rounded up to 4 bytes. Its bytes_allocated is what it takes of
// the machine, pcpu_obj_full_size() of mm/percpu-internal.h (Linux 6.18): the same for each possible CPU, and a pointer
// for every 4 bytes where control groups account kernel memory. Zero before Linux 5.19, which does not say.
// A call has the fields of CallEvent (trace/calls/event.hpp) instead.
// A vmap area is a range of kernel addresses, of vmalloc, vmap, ioremap or a stack: not always memory of its own.
struct Event {
  std::uint64_t time_ns;          // on the trace's clock, scaled by the source
  std::uint64_t address;          // where it begins; pages: the page frame number (see TraceRecording::page_identity)
  std::uint64_t bytes_requested;  // vmap areas: with the guard page, where there is one
  std::uint64_t bytes_allocated;  // slab: the slot that was given; percpu: see above; vmap areas: as requested
  std::uint32_t gfp_flags;
  std::int16_t node;         // the NUMA node asked for
  std::uint8_t order;        // pages: 2^order of them; page_alloc_extfrag: as many were asked for
  std::int8_t migrate_type;  // page events that have one, page_alloc_extfrag: asked for; -1: not applicable
  CallSiteId call_site;      // slab; percpu allocations since Linux 5.19
  std::int32_t tid;          // the interrupted task in hard and soft interrupts
  CacheId cache;             // where the event names it (kmem_cache_free since 5.12)
  std::uint16_t cpu;
  EventTypeId type;
  EventKind kind;
  std::uint8_t context;         // Context bits
  std::uint8_t fallback_order;  // page_alloc_extfrag: of the free block of another migrate type that is taken from
  std::uint8_t page_flags;      // PageFlags
  StackId stack;                // TraceTables::stacks; of the record of a stack the one that fits no event
};
static_assert(sizeof(Event) == 64 && std::is_trivially_copyable_v<Event>);

using EventBatch = std::vector<Event>;

// How high an interrupt is: 0 none, 1 soft, 2 hard, 3 NMI. One runs on top of what is lower.
constexpr std::uint8_t interrupt_level(const Event& event) {
  if ((event.context & Context::kNmi) != 0) return 3;
  if ((event.context & Context::kHardIrq) != 0) return 2;
  return (event.context & Context::kSoftIrq) != 0 ? 1 : 0;
}

// The migrate type of the free block from which page_alloc_extfrag takes.
constexpr unsigned fallback_migrate_type(const Event& event) {
  return unsigned{event.page_flags} >> PageFlags::kFallbackTypeShift;
}

constexpr bool is_syscall(EventKind kind) {
  return kind == EventKind::syscall_enter || kind == EventKind::syscall_exit;
}
constexpr bool is_call(EventKind kind) { return kind == EventKind::call_entry || kind == EventKind::call_exit; }

constexpr bool is_slab_alloc(EventKind kind) { return kind == EventKind::kmalloc || kind == EventKind::cache_alloc; }
constexpr bool is_slab_free(EventKind kind) { return kind == EventKind::kfree || kind == EventKind::cache_free; }

// Equal addresses of two allocators are different objects: a percpu pointer is an offset that each CPU turns into its
// own address.
enum class Allocator : std::uint8_t { slab, percpu, vmap, pages };
constexpr std::size_t kAllocators = 4;
// The first ones free what one address names; pages are freed by frame.
constexpr std::size_t kPointerAllocators = 3;

// By pointer, not of pages.
constexpr bool is_allocation(EventKind kind) {
  return is_slab_alloc(kind) || kind == EventKind::percpu_alloc || kind == EventKind::vmap_alloc;
}
constexpr bool is_free(EventKind kind) {
  return is_slab_free(kind) || kind == EventKind::percpu_free || kind == EventKind::vmap_free;
}
constexpr bool is_page_event(EventKind kind) {
  switch (kind) {
    case EventKind::page_alloc:
    case EventKind::page_free:
    case EventKind::page_free_batched:
    case EventKind::page_alloc_zone_locked:
    case EventKind::page_pcpu_drain:
    case EventKind::page_alloc_extfrag: return true;
    default: return false;
  }
}
// The allocator of an allocation or a free.
constexpr Allocator allocator_of(EventKind kind) {
  if (kind == EventKind::percpu_alloc || kind == EventKind::percpu_free) return Allocator::percpu;
  if (kind == EventKind::vmap_alloc || kind == EventKind::vmap_free) return Allocator::vmap;
  if (kind == EventKind::page_alloc || kind == EventKind::page_free) return Allocator::pages;
  return Allocator::slab;
}

}  // namespace kmt
