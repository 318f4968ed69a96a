// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and times of the events that a trace lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kmt {

// An interval in which events of one CPU were lost.
struct LostEvents {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;        // number of lost events; empty: the number is unknown
  std::uint64_t before_ns = 0;               // time of the last event before the loss; 0: there is no earlier event
  std::uint64_t after_ns = 0;                // earliest time that is certainly after the loss; 0: unknown
  std::optional<std::uint64_t> offset = {};  // file offset of the page that reports the loss
};

// The kernel's statistics of one CPU's ring buffer (per_cpu/cpuN/stats), read after recording stopped.
struct BufferStatistics {
  unsigned cpu = 0;
  std::uint64_t entries = 0;  // number of events that were not read yet
  // Number of events that were overwritten. For the ring buffer of a BPF program: events dropped because the buffer was
  // full.
  std::uint64_t overrun = 0;
  std::uint64_t commit_overrun = 0;  // number of events dropped because they were nested too deeply
  std::uint64_t dropped = 0;         // number of events dropped because a buffer that does not overwrite was full
  std::uint64_t read = 0;
  std::uint64_t not_recorded = 0;  // number of events that the recorder left unread when it had to stop
  std::uint64_t counted_ns = 0;    // time on the trace's clock when these numbers were read; 0: unknown
};

struct TraceLosses {
  std::vector<LostEvents> intervals;
  std::vector<BufferStatistics> buffers;
  std::uint64_t somewhere = 0;  // number of lost events whose CPU and time are unknown
  // Set if only the end of the file is missing. Until this time, the file has all events of all CPUs, except those lost
  // in `intervals`.
  std::optional<std::uint64_t> complete_until_ns;
};

// Returns the number of lost events for each CPU, for at least `cpus` CPUs. Marks in the pages and the kernel's count
// of overwritten events report the same losses, but either may be incomplete. So the larger number is used. Other
// dropped events are added. A mark without a number counts as one event.
std::vector<std::uint64_t> lost_events_per_cpu(const TraceLosses& losses, unsigned cpus);
// Returns the sum over all CPUs and the losses whose CPU is unknown.
std::uint64_t total_lost_events(const TraceLosses& losses);

}  // namespace kmt
