// SPDX-License-Identifier: GPL-2.0-or-later
// The event type that all trace formats share: a plain struct in one cache line. Fields that a kind of event does not
// have are zero.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "trace/ids.hpp"

namespace kmt {

enum class EventKind : std::uint8_t {
  other,    // any other event; it is counted but not interpreted
  kmalloc,  // kmalloc, kmalloc_node
  kfree,
  cache_alloc,  // kmem_cache_alloc, kmem_cache_alloc_node
  cache_free,
  page_alloc,
  page_free,  // mm_page_free; before Linux 3.3, mm_page_free_direct and mm_pagevec_free
  // mm_page_free_batched, or mm_page_free_direct after mm_pagevec_free. A page_free event reports the same free.
  page_free_batched,
  page_alloc_zone_locked,
  page_pcpu_drain,
  page_alloc_extfrag,
  percpu_alloc,  // percpu_alloc_percpu; also percpu_alloc_percpu_fail, whose address is 0
  percpu_free,
  vmap_alloc,     // alloc_vmap_area; the address is 0 if the allocation failed
  vmap_free,      // free_vmap_area_noflush: the area is unused; its addresses are reused only after a purge
  call_entry,     // function graph tracer: funcgraph_entry, fgraph_retaddr_entry; kmemtrace:call_entry
  call_exit,      // funcgraph_exit; kmemtrace:call_exit
  syscall_enter,  // raw_syscalls:sys_enter: Event::address is the system call number
  syscall_exit,
  bulk_free,  // kmemtrace:free_bulk: the kernel frees an array of objects without a tracepoint; one event for each
              // object
  rcu_free,   // kmemtrace:free_rcu: the kernel frees the object later, perhaps without another event
  // Tasks that wait for memory: trace/stall.hpp.
  stall_begin,  // such as mm_vmscan_direct_reclaim_begin
  stall_end,    // such as mm_vmscan_direct_reclaim_end
  stall_mark,   // a single event of a stall, such as mm_vmscan_throttled
};

// Bits that show in which context an event happened. They are from the record's common_flags
// (include/linux/trace_events.h, Linux 6.1).
struct Context {
  static constexpr std::uint8_t kHardIrq = 0x08;
  static constexpr std::uint8_t kSoftIrq = 0x10;
  static constexpr std::uint8_t kNmi = 0x40;
};

// Value of Event::address if an allocation of pages failed.
constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();
// Flags of page events.
struct PageFlags {
  // For page_alloc_zone_locked: pages refill a CPU's list of free pages.
  static constexpr std::uint8_t kPercpuRefill = 0x01;
  // For page_alloc_extfrag: the kernel changed the whole pageblock to another migrate type.
  static constexpr std::uint8_t kOwnershipChanged = 0x02;
  // For page_alloc_extfrag: page_flags contains the migrate type of the free block, shifted left by this number of
  // bits.
  static constexpr unsigned kFallbackTypeShift = 4;
  // Largest migrate type that page_flags can contain. No kernel has larger types; larger values in a trace are stored
  // as 15.
  static constexpr unsigned kMostFallbackType = 15;
};
// Bits of Event::page_flags in a record that contains a user stack. Event::address is then the number that
// UserStacks::keep() returned.
struct StackFlags {
  static constexpr std::uint8_t kUser = 0x01;
};
// Bits of Event::page_flags in a bulk_free, cache_alloc or page_alloc event.
struct BulkFlags {
  static constexpr std::uint8_t kSameRecord = 0x01;  // the previous event is from the same record
  // The record lists all pages of the caller's array, and the call allocated only those that were not live before.
  static constexpr std::uint8_t kMayBeLive = 0x08;
};
// Bits of Event::page_flags in a kmalloc or cache_alloc event whose record has the field `accounted` (Linux 6.0).
struct AccountFlags {
  static constexpr std::uint8_t kKnown = 0x02;    // the record has the field
  static constexpr std::uint8_t kCharged = 0x04;  // the kernel charges the object to a memory control group
};
// Value of Event::node if the caller requested no node (NUMA_NO_NODE), or if the event has no such field.
constexpr std::int16_t kNoNode = -1;

// For percpu allocations, bytes_requested is the size for one CPU, rounded up to 4 bytes. bytes_allocated is the total
// for the machine: the size for all possible CPUs, plus a pointer for every 4 bytes if control groups account kernel
// memory (pcpu_obj_full_size() in mm/percpu-internal.h, Linux 6.18). Before Linux 5.19 it is zero, because the events
// do not contain it. Events of calls have the fields of CallEvent (trace/calls/event.hpp) instead. Events of stalls are
// read with the functions of trace/stall.hpp. A vmap area is a range of kernel addresses for vmalloc, vmap, ioremap or
// a stack. It may map memory that was allocated separately.
struct Event {
  std::uint64_t time_ns;          // nanoseconds on the trace's clock; other clock units are converted by the source
  std::uint64_t address;          // start address; for pages, what TraceRecording::page_identity states
  std::uint64_t bytes_requested;  // requested bytes; for vmap areas, includes a guard page
  // For slab objects, the object size of the cache. For percpu memory, see above. For vmap areas, equal to
  // bytes_requested.
  std::uint64_t bytes_allocated;
  std::uint32_t gfp_flags;
  std::int16_t node;   // requested NUMA node, or kNoNode
  std::uint8_t order;  // for pages: the block has 2^order pages; for page_alloc_extfrag: the requested order
  // Only in some page events; -1: unknown. For page_alloc_extfrag, the requested type.
  std::int8_t migrate_type;
  CallSiteId call_site;  // set for slab allocations, percpu allocations since Linux 5.19, and probed page allocations
  std::int32_t tid;      // task on the CPU; in hard and soft interrupts, the interrupted task
  CacheId cache;         // set if the event names the cache (kmem_cache_free since Linux 5.12)
  std::uint16_t cpu;
  EventTypeId type;
  EventKind kind;
  std::uint8_t context;  // Context bits
  // For page_alloc_extfrag: order of the free block of another migrate type. For stalls: the StallKind.
  std::uint8_t fallback_order;
  std::uint8_t page_flags;  // PageFlags, StackFlags, BulkFlags or AccountFlags
  // Index in TraceTables::stacks. Also set if the event comes from a record that contains only a stack.
  StackId stack;
};
static_assert(sizeof(Event) == 64 && std::is_trivially_copyable_v<Event>);

using EventBatch = std::vector<Event>;

// Returns the interrupt level: 0 none, 1 softirq, 2 hardirq, 3 NMI. An interrupt can only interrupt code of a lower
// level.
constexpr std::uint8_t interrupt_level(const Event& event) {
  if ((event.context & Context::kNmi) != 0) return 3;
  if ((event.context & Context::kHardIrq) != 0) return 2;
  return (event.context & Context::kSoftIrq) != 0 ? 1 : 0;
}

// Returns the migrate type of the free block that page_alloc_extfrag uses.
constexpr unsigned fallback_migrate_type(const Event& event) {
  return unsigned{event.page_flags} >> PageFlags::kFallbackTypeShift;
}

constexpr bool is_syscall(EventKind kind) {
  return kind == EventKind::syscall_enter || kind == EventKind::syscall_exit;
}
constexpr bool is_stall(EventKind kind) {
  return kind == EventKind::stall_begin || kind == EventKind::stall_end || kind == EventKind::stall_mark;
}
constexpr bool is_call(EventKind kind) { return kind == EventKind::call_entry || kind == EventKind::call_exit; }

constexpr bool is_slab_alloc(EventKind kind) { return kind == EventKind::kmalloc || kind == EventKind::cache_alloc; }
// True for frees that kmemtrace's own probes record.
constexpr bool is_probed_free(EventKind kind) { return kind == EventKind::bulk_free || kind == EventKind::rcu_free; }
constexpr bool is_slab_free(EventKind kind) {
  return kind == EventKind::kfree || kind == EventKind::cache_free || is_probed_free(kind);
}

// Each allocator has its own address space: equal addresses of different allocators are unrelated. For example, a
// percpu pointer is an offset that each CPU converts to a separate address.
enum class Allocator : std::uint8_t { slab, percpu, vmap, pages };
constexpr std::size_t kAllocators = 4;
// Number of allocators that free memory by the address of the allocation. They come first in Allocator. Pages are freed
// by page frame.
constexpr std::size_t kPointerAllocators = 3;

// True for allocations that are freed by their address. False for pages, which are freed by page frame.
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
// Returns the allocator of an allocation or a free.
constexpr Allocator allocator_of(EventKind kind) {
  if (kind == EventKind::percpu_alloc || kind == EventKind::percpu_free) return Allocator::percpu;
  if (kind == EventKind::vmap_alloc || kind == EventKind::vmap_free) return Allocator::vmap;
  if (kind == EventKind::page_alloc || kind == EventKind::page_free) return Allocator::pages;
  return Allocator::slab;
}

}  // namespace kmt
