// SPDX-License-Identifier: GPL-2.0-or-later
// Events one by one, each with what became of it: for those who want them all, not sums.
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
  unseen,                  // outside of the time window
  other,                   // neither allocates nor frees
  failed,                  // an allocation that got nothing
  began,                   // an allocation
  began_after_early_free,  // the pointer's allocation before this one was freed just before it was made, as times say
  duplicate_event,         // an allocation whose event came before: `replaced` is what the first one said
  freed,                   // the free of an allocation of the trace
  freed_null,
  freed_nothing,  // ZERO_SIZE_PTR
  allocated_before_trace,
  double_or_untraced,  // a second free with no allocation between
  impossible_order,
};

// Whether an allocation begins with the event.
constexpr bool begins(Outcome outcome) {
  return outcome == Outcome::began || outcome == Outcome::began_after_early_free || outcome == Outcome::duplicate_event;
}

// The part that an event took from an allocation that was live before it.
struct EndedPart {
  std::uint32_t allocation = 0;  // its number
  std::uint64_t began_ns = 0;
  std::optional<std::uint64_t> bytes;  // of the pages that were taken; empty: all that it was given
  std::uint16_t began_cpu = 0;
  bool whole = true;  // the allocation ends with it: of pages, its first one is among them
};

// All that is borrowed lives until the next event.
struct StreamedEvent {
  const Event* event = nullptr;
  Outcome outcome = Outcome::other;
  std::uint32_t allocation = 0;  // the number of the allocation that begins or fails: 1 is the trace's first; else 0
  std::string_view task;         // the name of Event::tid at that time
  std::string_view context;      // "task", "softirq", "hardirq", "nmi"
  std::string_view cache;        // of slab objects; empty: not known
  std::span<const EndedPart> ended;  // a free's; an allocation's where something looked live in its place
};

struct StreamEnd {
  std::uint64_t first_ns = 0;  // of the events that were given
  std::uint64_t begin_ns = 0;  // of the recording, as far as known
  std::uint64_t end_ns = 0;
  std::uint64_t events = 0;
  bool complete = true;                         // false: reading was interrupted
  bool may_lack_frees = false;                  // all memory live at the end may have been freed
  std::array<bool, kAllocators> lacks_frees{};  // by Allocator: its frees are not in the trace
  std::vector<MemorySeries> memory;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void add(const StreamedEvent& event) = 0;
  virtual void end(const StreamEnd& end) = 0;  // once, after the last event
};

}  // namespace kmt
