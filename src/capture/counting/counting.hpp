// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of kernel memory events, for `stat` and `top`. There are three back ends: BPF programs, hist triggers of
// ftrace, and events that are read from a ring buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "capture/features/events.hpp"
#include "trace/state/cache_counts.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

struct EventCount {
  EventName event;
  bool has_bytes = false;  // true if the event has a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // number of events, including failed allocations
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;  // requested bytes, without those of failed allocations
  std::uint64_t allocated = 0;
  // Number of events that interrupted their own BPF program. They are not included in `events`. They are counted for
  // all processes, regardless of the selection.
  std::uint64_t missed = 0;
};

// Sums of each event. All functions throw Error.
class EventCounting {
 public:
  virtual ~EventCounting() = default;
  // Processes new events. Call it several times per second.
  virtual void drain() {}
  // Returns the counts since the start, in the order of event_names.def.
  virtual std::vector<EventCount> read() = 0;
  // Returns the counts of each slab cache since the start, sorted by name.
  virtual CacheCounts read_caches() const { return {}; }
  // Returns how many children of selected processes could not be followed.
  virtual std::uint64_t not_followed() const { return 0; }
  // Returns how many events were lost, and are in no count.
  virtual std::uint64_t lost() const { return 0; }
  // Returns the events that this kernel lacks.
  virtual const std::vector<EventName>& missing() const = 0;
  // Returns how many bytes of kernel memory are in use for counting; empty if it is unknown.
  virtual std::optional<std::uint64_t> kernel_memory() const = 0;
};

// Sums of each call site and process. All functions throw Error.
class SiteCounting {
 public:
  virtual ~SiteCounting() = default;
  // Processes new events. Call it several times per second.
  virtual void drain() {}
  // Returns the sums since the last call.
  virtual std::vector<HeapSite> take_sites() = 0;
  // Returns the counts of each slab cache since the start, sorted by name.
  virtual CacheCounts read_caches() const { return {}; }
  virtual HeapLosses losses() const = 0;
  // True if a sampled object is still live, as far as the kernel knows.
  virtual bool is_followed(std::uint64_t) { return false; }
  // Returns how many bytes of kernel memory are in use for counting; empty if it is unknown.
  virtual std::optional<std::uint64_t> kernel_memory() const = 0;
};

}  // namespace kmt
