// SPDX-License-Identifier: GPL-2.0-or-later
// Exact counts of kernel memory events, kept by BPF programs inside the kernel: nothing is streamed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/bpf/selection.hpp"
#include "capture/features/events.hpp"

namespace kmt {

struct EventCount {
  EventName event;
  bool has_bytes = false;  // it says how many it is about
  bool may_fail = false;
  std::uint64_t events = 0;  // of which some failed
  std::uint64_t failed = 0;
  std::uint64_t requested = 0;  // bytes, of what did not fail
  std::uint64_t allocated = 0;
  // Besides: the program was interrupted by its own event. Of every process, even where only some are counted.
  std::uint64_t missed = 0;
};

class EventCounters {
 public:
  // Loads and attaches: counting has begun when it returns. Throws Error.
  explicit EventCounters(const BpfSelection& selection);
  ~EventCounters();
  EventCounters(EventCounters&&) noexcept;

  // Since the beginning, in the order of event_names.def.
  std::vector<EventCount> read() const;
  // Processes that were forked by selected ones but could not be followed.
  std::uint64_t not_followed() const;
  // What this kernel does not have.
  const std::vector<EventName>& missing() const;
  // Kernel memory that it takes, in bytes.
  std::uint64_t memory() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
