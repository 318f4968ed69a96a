// SPDX-License-Identifier: GPL-2.0-or-later
// The events that a trace lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kmt {

// An interval in which events of one CPU were lost.
struct LostEvents {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;        // number of lost events; empty: unknown
  std::uint64_t before_ns = 0;               // time of the last event before the loss; 0: none
  std::uint64_t after_ns = 0;                // first known time after the loss
  std::optional<std::uint64_t> offset = {};  // file offset of the page that reports the loss
};

// The kernel's statistics of one CPU's ring buffer after recording stopped (per_cpu/cpuN/stats).
struct BufferStatistics {
  unsigned cpu = 0;
  std::uint64_t entries = 0;         // still unread
  std::uint64_t overrun = 0;         // overwritten, oldest first; for a BPF program's ring: dropped because it was full
  std::uint64_t commit_overrun = 0;  // dropped: nested too deeply for the buffer
  std::uint64_t dropped = 0;         // dropped: buffer full without overwriting
  std::uint64_t read = 0;
  std::uint64_t not_recorded = 0;  // unread when the recorder had to stop reading
  std::uint64_t counted_ns = 0;    // time of these counts on the trace's clock; 0: unknown
};

struct TraceLosses {
  std::vector<LostEvents> intervals;
  std::vector<BufferStatistics> buffers;
  std::uint64_t somewhere = 0;  // lost events whose CPU and time are unknown
};

// Returns lost events for each CPU, for at least `cpus` CPUs. The sources are marks in the pages and the kernel's
// statistics. The marks and the statistics count the same losses, but may be incomplete, so the larger number is used.
// A mark without a count counts as at least one event.
std::vector<std::uint64_t> lost_events_per_cpu(const TraceLosses& losses, unsigned cpus);
std::uint64_t total_lost_events(const TraceLosses& losses);  // includes losses of unknown CPUs

}  // namespace kmt
