// SPDX-License-Identifier: GPL-2.0-or-later
// The events that a trace lost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kmt {

// A stretch in which events of one CPU were lost.
struct LostEvents {
  unsigned cpu = 0;
  std::optional<std::uint64_t> count;        // empty: the kernel did not say how many
  std::uint64_t before_ns = 0;               // the last event read before the stretch; 0: none
  std::uint64_t after_ns = 0;                // the first time known after it
  std::optional<std::uint64_t> offset = {};  // of the page that says so
};

// The kernel's own account of one CPU's ring buffer when recording stopped (per_cpu/cpuN/stats).
struct BufferStatistics {
  unsigned cpu = 0;
  std::uint64_t entries = 0;         // still unread
  std::uint64_t overrun = 0;         // overwritten, oldest first, or newer than what fills a BPF program's ring
  std::uint64_t commit_overrun = 0;  // refused: nested deeper than the buffer's size
  std::uint64_t dropped = 0;         // refused: full, overwriting off
  std::uint64_t read = 0;
  std::uint64_t not_recorded = 0;  // unread when the recorder had to give up
  std::uint64_t counted_ns = 0;    // when all that was counted, on the trace's clock; 0: unknown
};

struct TraceLosses {
  std::vector<LostEvents> stretches;
  std::vector<BufferStatistics> buffers;
  std::uint64_t somewhere = 0;  // lost events of unknown CPU and time
};

// Lost events by CPU, at least `cpus` of them: from the pages' marks and the kernel's statistics. Both count the same
// loss and either may miss some, so the larger counts. A mark without a count is worth one event at least.
std::vector<std::uint64_t> lost_events_per_cpu(const TraceLosses& losses, unsigned cpus);
std::uint64_t total_lost_events(const TraceLosses& losses);  // those of no known CPU too

}  // namespace kmt
