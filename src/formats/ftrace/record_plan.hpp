// SPDX-License-Identifier: GPL-2.0-or-later
// Determines the kind of an event type, and the offsets of its fields in records.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/ftrace/event_format.hpp"
#include "trace/event.hpp"
#include "trace/stall.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// True if a frame number means "no page". This is -1UL in the word size of the traced kernel.
constexpr bool is_no_page(std::uint64_t frame, unsigned word_bytes) {
  return frame == (word_bytes == 4 ? 0xFFFFFFFFu : kNoPage);
}

// Returns the kind of an event by its name, or `other` if kmemtrace does not interpret the event.
EventKind event_kind(std::string_view system, std::string_view name);

struct RecordField {
  std::uint16_t offset = 0;
  std::uint8_t size = 0;  // bytes; 0 if the event has no such field
};
// Events of Linux 2.6.31 to 3.2, of which two may report the same free of a page.
enum class OldPageFree : std::uint8_t {
  no,
  direct,   // mm_page_free_direct
  batched,  // mm_pagevec_free
};
// The offsets of an event type's fields.
struct RecordPlan {
  bool described = false;
  EventKind kind = EventKind::other;
  EventTypeId type;
  std::uint32_t least_bytes = 0;  // size of the smallest record that has all fields below
  RecordField flags, pid;
  RecordField address;        // ptr, pfn or page, addr or va_start
  std::uint16_t namings = 0;  // index in the decoder's list of namings; 0: the event names no task
  bool creates_task = false;  // true for task_newtask: see formats/ftrace/task_creation.hpp
  std::uint8_t life = 0;      // index in the decoder's list of life events; 0: not such an event
  bool is_stack = false;      // ftrace:kernel_stack or user_stack
  bool is_user_stack = false;
  RecordField process;           // ID of the process to which a user stack belongs
  std::uint32_t callers = 0;     // offset in bytes of the stack's return addresses
  std::uint32_t most_depth = 0;  // maximum number of return addresses
  RecordField depth;             // for a stack, the number of addresses; for a call, its depth
  RecordField call_site, bytes_requested, bytes_allocated, gfp_flags, node, accounted, cache_name, failed;
  RecordField began, ended, return_value;  // start, end and return value of a call
  std::uint32_t arguments = 0;             // offset in bytes of the argument registers of a call
  std::uint32_t most_arguments = 0;        // maximum number of arguments
  RecordField values;                      // for a call, the values that were read from memory
  std::uint16_t probed_values = 0;         // for values in separate records: index in the decoder's list; 0: none
  bool is_values = false;                  // kmemtrace:probe_values_N, written before the event of its call
  RecordField frame;                       // for a call, the stack pointer
  RecordField head;                        // for rcu_free, the address of the struct rcu_head, or 0
  RecordField cache;                       // for several objects, the address of the struct kmem_cache, or 0
  RecordField count;                       // number of objects; this field has the size of an address
  RecordField result;                      // 0 if a bulk allocation failed
  std::uint32_t objects = 0;               // offset in bytes of the array with the addresses of the objects
  std::uint32_t most_objects = 0;          // number of elements of that array; 0: the event has no array
  RecordField first_page;                  // address of the struct page of frame 0; for records that list pages
  RecordField page_bytes;                  // size of a struct page
  RecordField end_frame;                   // frame after the last one; for records about a range of pages
  OldPageFree old_free = OldPageFree::no;
  RecordField order, migrate_type, percpu_refill, fallback_order, fallback_migrate_type, change_ownership;
  StallKind stall = {};  // only for events of stalls
  RecordField scanned, reclaimed, delay_us;
};

constexpr std::uint32_t kMostStackDepth = 256;
constexpr std::uint32_t kMostCallArguments = 16;

// Returns the plan for the records of an event. `page_identity` becomes struct_page if the events of pages have
// addresses of struct page instead of frame numbers.
RecordPlan plan_of(const EventFormat& format, EventTypeId type, unsigned word_bytes, PageIdentity& page_identity);

// Returns the name of a field that the event needs, if the event is an allocation or a free and its format lacks the
// field; otherwise an empty name.
std::string_view missing_field(const EventFormat& format, const RecordPlan& plan);

}  // namespace kmt
