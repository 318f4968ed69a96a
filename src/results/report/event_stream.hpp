// SPDX-License-Identifier: GPL-2.0-or-later
// All events of a trace, one by one, each with its effect on memory. Used by exports that need single events instead of
// sums.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results/series/memory_series.hpp"
#include "trace/event.hpp"

namespace kmt {

// The effect of one event on live memory.
enum class Outcome : std::uint8_t {
  unseen,  // the event is outside the time window
  other,   // the event neither allocates nor frees
  failed,  // the event is a failed allocation
  began,   // the event is an allocation
  // An allocation with contradictory times: the trace shows a free of the previous object at this address before that
  // object was allocated.
  began_after_early_free,
  duplicate_event,  // a second event for the same allocation, which replaces the first event
  freed,            // a free of an allocation in the trace
  freed_null,
  freed_nothing,  // a free of ZERO_SIZE_PTR
  allocated_before_trace,
  double_or_untraced,  // a second free of an address without an allocation in between
  impossible_order,
};

// True if the event starts an allocation.
constexpr bool begins(Outcome outcome) {
  return outcome == Outcome::began || outcome == Outcome::began_after_early_free || outcome == Outcome::duplicate_event;
}

// A live allocation, or a part of it, that an event has freed or replaced.
struct EndedPart {
  std::uint32_t allocation = 0;  // number of the allocation
  std::uint64_t began_ns = 0;
  std::optional<std::uint64_t> bytes;  // bytes of the freed pages; empty: the whole allocation was freed
  std::uint16_t began_cpu = 0;
  bool whole = true;  // true: the allocation ends; for pages, the first page was freed
};

// One event. The pointer and the string views are valid until the next event.
struct StreamedEvent {
  const Event* event = nullptr;
  Outcome outcome = Outcome::other;
  // Number of the allocation that starts or fails, counted from 1 over the trace; otherwise 0.
  std::uint32_t allocation = 0;
  std::string_view task;     // name of the task with the ID Event::tid at that time
  std::string_view context;  // "task", "softirq", "hardirq", "nmi"
  std::string_view cache;    // cache of a slab object; empty: unknown
  // The allocations that this event ends. It frees them, or allocates an address at which they looked live.
  std::span<const EndedPart> ended;
  bool slab_pages = false;  // true: allocates pages of slabs or of a large kmalloc, which have slab events of their own
};

struct StreamEnd {
  std::uint64_t first_ns = 0;  // time of the first event that was passed to the receiver
  std::uint64_t begin_ns = 0;  // start of the recording, as far as known
  std::uint64_t end_ns = 0;
  std::uint64_t events = 0;
  bool complete = true;                         // false: reading was interrupted, so events are missing
  bool may_lack_frees = false;                  // true: any memory that looks live at the end may have been freed
  std::array<bool, kAllocators> lacks_frees{};  // index: Allocator; true: the trace contains no frees of this allocator
  std::vector<MemorySeries> memory;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void add(const StreamedEvent& event) = 0;
  virtual void end(const StreamEnd& end) = 0;  // called once, after the last event
};

}  // namespace kmt
