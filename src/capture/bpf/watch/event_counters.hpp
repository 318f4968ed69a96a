// SPDX-License-Identifier: GPL-2.0-or-later
// Counts kernel memory events exactly, with BPF programs inside the kernel. Events are not passed to user space.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/bpf/selection.hpp"
#include "capture/features/events.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

struct EventCount {
  EventName event;
  bool has_bytes = false;  // true if the event has a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // number of events, including failed allocations
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;  // requested bytes, without those of failed allocations
  std::uint64_t allocated = 0;
  // Number of events that interrupted their own program. They are not included in `events`. They are counted for all
  // processes, regardless of the selection.
  std::uint64_t missed = 0;
};

class EventCounters {
 public:
  // Loads and attaches the programs. Counting has started when the constructor returns. If `probes` is false, objects
  // of paths without a tracepoint are not counted. Throws Error.
  EventCounters(const BpfSelection& selection, bool probes);
  ~EventCounters();
  EventCounters(EventCounters&&) noexcept;

  // Returns the counts since the start, in the order of event_names.def.
  std::vector<EventCount> read() const;
  // Returns the counts of each slab cache since the start, sorted by name.
  CacheCounts read_caches() const;
  // Returns how many children of selected processes could not be followed.
  std::uint64_t not_followed() const;
  // Returns the events that this kernel lacks.
  const std::vector<EventName>& missing() const;
  // Returns how many bytes of kernel memory are in use for counting.
  std::uint64_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
