// SPDX-License-Identifier: GPL-2.0-or-later
// All events, one by one, each with its effect; for exports that need events instead of sums.
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

// The effect of one event.
enum class Outcome : std::uint8_t {
  unseen,                  // the event is outside the time window
  other,                   // the event neither allocates nor frees
  failed,                  // a failed allocation
  began,                   // an allocation
  began_after_early_free,  // an allocation; according to the times, the previous object at this address was freed
                           // before it was allocated
  duplicate_event,         // a second event for the same allocation; it replaces the first event
  freed,                   // a free of an allocation of the trace
  freed_null,
  freed_nothing,  // ZERO_SIZE_PTR
  allocated_before_trace,
  double_or_untraced,  // a second free without an allocation in between
  impossible_order,
};

// True if an allocation starts with the event.
constexpr bool begins(Outcome outcome) {
  return outcome == Outcome::began || outcome == Outcome::began_after_early_free || outcome == Outcome::duplicate_event;
}

// The part of a live allocation that an event freed or replaced.
struct EndedPart {
  std::uint32_t allocation = 0;  // number of the allocation
  std::uint64_t began_ns = 0;
  std::optional<std::uint64_t> bytes;  // bytes of the freed pages; empty: all bytes given to the allocation
  std::uint16_t began_cpu = 0;
  bool whole = true;  // true: the allocation ends; for pages, the part includes the first page
};

// Pointers and views are valid until the next event.
struct StreamedEvent {
  const Event* event = nullptr;
  Outcome outcome = Outcome::other;
  // Number of the allocation that starts or fails (1: the first of the trace), otherwise 0.
  std::uint32_t allocation = 0;
  std::string_view task;     // name of the task Event::tid at that time
  std::string_view context;  // "task", "softirq", "hardirq", "nmi"
  std::string_view cache;    // cache of a slab object; empty: unknown
  // Allocations that a free ends, or that looked live at the address of a new allocation.
  std::span<const EndedPart> ended;
};

struct StreamEnd {
  std::uint64_t first_ns = 0;  // time of the first event passed on
  std::uint64_t begin_ns = 0;  // start of the recording, as far as known
  std::uint64_t end_ns = 0;
  std::uint64_t events = 0;
  bool complete = true;                         // false: reading was interrupted
  bool may_lack_frees = false;                  // true: all memory that is live at the end may have been freed
  std::array<bool, kAllocators> lacks_frees{};  // by Allocator; true: the trace lacks frees of this allocator
  std::vector<MemorySeries> memory;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void add(const StreamedEvent& event) = 0;
  virtual void end(const StreamEnd& end) = 0;  // called once, after the last event
};

}  // namespace kmt
