// SPDX-License-Identifier: GPL-2.0-or-later
// The event type of all trace formats: a plain struct in one cache line. Fields that do not apply to a kind of event
// are zero.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "trace/ids.hpp"

namespace kmt {

enum class EventKind : std::uint8_t {
  other,    // only counted, not interpreted
  kmalloc,  // kmalloc, kmalloc_node
  kfree,
  cache_alloc,  // kmem_cache_alloc, kmem_cache_alloc_node
  cache_free,
  page_alloc,
  page_free,          // mm_page_free; before Linux 3.3, mm_page_free_direct
  page_free_batched,  // not counted, because a page_free reports the same free; before Linux 3.3, mm_pagevec_free
  page_alloc_zone_locked,
  page_pcpu_drain,
  page_alloc_extfrag,
  percpu_alloc,  // percpu_alloc_percpu; also percpu_alloc_percpu_fail, with address 0
  percpu_free,
  vmap_alloc,     // alloc_vmap_area; address 0 if it failed
  vmap_free,      // free_vmap_area_noflush: the area is unused; its addresses are reused after a purge
  call_entry,     // function graph tracer: funcgraph_entry, fgraph_retaddr_entry; kmemtrace:call_entry
  call_exit,      // funcgraph_exit; kmemtrace:call_exit
  syscall_enter,  // raw_syscalls:sys_enter: the address is the system call number
  syscall_exit,
};

// Context of an event, from the trace's common_flags (include/linux/trace_events.h, Linux 6.1).
struct Context {
  static constexpr std::uint8_t kHardIrq = 0x08;
  static constexpr std::uint8_t kSoftIrq = 0x10;
  static constexpr std::uint8_t kNmi = 0x40;
};

// Address of a page event without a page: the allocation failed.
constexpr std::uint64_t kNoPage = std::numeric_limits<std::uint64_t>::max();
// Flags of page events.
struct PageFlags {
  static constexpr std::uint8_t kPercpuRefill = 0x01;  // page_alloc_zone_locked: refills a CPU's list of free pages
  // For page_alloc_extfrag: the whole page block got another migrate type.
  static constexpr std::uint8_t kOwnershipChanged = 0x02;
  static constexpr unsigned kFallbackTypeShift = 4;  // page_alloc_extfrag: shift of the migrate type of the block
  static constexpr unsigned kMostFallbackType = 15;  // larger values, which no kernel has, are stored as 15
};
// Bits of Event::page_flags in a record with a user stack. Event::address of such a record is the result of
// UserStacks::keep().
struct StackFlags {
  static constexpr std::uint8_t kUser = 0x01;
};
// NUMA node of an event that requests no node (NUMA_NO_NODE) or whose format has no such field.
constexpr std::int16_t kNoNode = -1;

// For percpu allocations, bytes_requested is the size for one CPU, rounded up to 4 bytes. bytes_allocated is the total
// for the machine, as in pcpu_obj_full_size() in mm/percpu-internal.h (Linux 6.18): the size for all possible CPUs,
// plus a pointer for every 4 bytes if control groups account kernel memory. Before Linux 5.19 it is zero, because the
// events do not contain it. Calls have the fields of CallEvent (trace/calls/event.hpp) instead. A vmap area is a range
// of kernel addresses for vmalloc, vmap, ioremap or a stack. It may map memory that was allocated separately.
struct Event {
  std::uint64_t time_ns;          // on the trace's clock, scaled by the source
  std::uint64_t address;          // start address; pages: page frame number (see TraceRecording::page_identity)
  std::uint64_t bytes_requested;  // vmap areas: including a guard page
  std::uint64_t bytes_allocated;  // slab: object size of the cache; percpu: see above; vmap areas: same as requested
  std::uint32_t gfp_flags;
  std::int16_t node;         // requested NUMA node
  std::uint8_t order;        // pages: a block of 2^order pages; page_alloc_extfrag: requested order
  std::int8_t migrate_type;  // only in some page events; page_alloc_extfrag: requested type; -1: not applicable
  CallSiteId call_site;      // slab allocations; percpu allocations since Linux 5.19
  std::int32_t tid;          // in hard and soft interrupts, the interrupted task
  CacheId cache;             // set if the event names the cache (kmem_cache_free since Linux 5.12)
  std::uint16_t cpu;
  EventTypeId type;
  EventKind kind;
  std::uint8_t context;         // Context bits
  std::uint8_t fallback_order;  // page_alloc_extfrag: order of the free block of another migrate type
  std::uint8_t page_flags;      // PageFlags
  StackId stack;                // index in TraceTables::stacks; if the record has only a stack and no event, that stack
};
static_assert(sizeof(Event) == 64 && std::is_trivially_copyable_v<Event>);

using EventBatch = std::vector<Event>;

// Returns the level of interrupt: 0 none, 1 soft, 2 hard, 3 NMI. Interrupts can only interrupt lower levels.
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
constexpr bool is_call(EventKind kind) { return kind == EventKind::call_entry || kind == EventKind::call_exit; }

constexpr bool is_slab_alloc(EventKind kind) { return kind == EventKind::kmalloc || kind == EventKind::cache_alloc; }
constexpr bool is_slab_free(EventKind kind) { return kind == EventKind::kfree || kind == EventKind::cache_free; }

// Equal addresses of different allocators are different objects. For example, a percpu pointer is an offset that each
// CPU converts to a separate address.
enum class Allocator : std::uint8_t { slab, percpu, vmap, pages };
constexpr std::size_t kAllocators = 4;
// The first three allocators free an object by its address. Pages are freed by frame.
constexpr std::size_t kPointerAllocators = 3;

// True for allocations that are freed by pointer, so not for pages.
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
