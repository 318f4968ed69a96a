// SPDX-License-Identifier: GPL-2.0-or-later
// Counts kernel memory events exactly, with BPF programs inside the kernel. Events are not passed to user space.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "capture/bpf/selection.hpp"
#include "capture/counting/counting.hpp"

namespace kmt {

// Returns the names of the events that are counted, in the order of event_names.def. No kernel has all of them.
std::vector<EventName> counted_events();

class EventCounters final : public EventCounting {
 public:
  // Loads and attaches the programs. Counting has started when the constructor returns. If `probes` is false, objects
  // of paths without a tracepoint are not counted. Throws Error.
  EventCounters(const BpfSelection& selection, bool probes);
  ~EventCounters() override;
  EventCounters(EventCounters&&) noexcept;

  std::vector<EventCount> read() override;
  CacheCounts read_caches() const override;
  std::uint64_t not_followed() const override;
  const std::vector<EventName>& missing() const override;
  std::optional<std::uint64_t> kernel_memory() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
