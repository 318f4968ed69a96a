// SPDX-License-Identifier: GPL-2.0-or-later
// Exact counts of kernel memory events from BPF programs inside the kernel: nothing is streamed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/bpf/selection.hpp"
#include "capture/features/events.hpp"

namespace kmt {

struct EventCount {
  EventName event;
  bool has_bytes = false;  // the event has a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // including failed ones
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;  // bytes, without failed ones
  std::uint64_t allocated = 0;
  // Not in `events`: the program was interrupted by its own event. Counts every process, whatever the selection.
  std::uint64_t missed = 0;
};

class EventCounters {
 public:
  // Loads and attaches: counting has begun when it returns. Throws Error.
  explicit EventCounters(const BpfSelection& selection);
  ~EventCounters();
  EventCounters(EventCounters&&) noexcept;

  // Counts since the start, in the order of event_names.def.
  std::vector<EventCount> read() const;
  // Returns the number of selected processes' children that could not be followed.
  std::uint64_t not_followed() const;
  // Events that this kernel lacks.
  const std::vector<EventName>& missing() const;
  // Returns bytes of kernel memory in use.
  std::uint64_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
