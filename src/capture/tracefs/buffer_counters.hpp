// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel counts for one CPU's ring buffer: per_cpu/cpuN/stats (kernel/trace/trace.c, tracing_stats_read).
#pragma once

#include <cstdint>
#include <string>

#include "capture/tracefs/tracefs.hpp"

namespace kmt {

struct BufferCounters {
  std::uint64_t read = 0;    // events that have left the ring buffer
  std::uint64_t unread = 0;  // events in it
  std::uint64_t unread_bytes = 0;
  std::uint64_t lost = 0;       // events overwritten, dropped, refused by nesting
  std::uint64_t now_ticks = 0;  // of the instance's clock; those in nanoseconds are rounded to microseconds

  BufferCounters& operator+=(const BufferCounters& other);  // times aside
};

BufferCounters parse_buffer_counters(const std::string& statistics);
// The text; empty when the CPU has none.
std::string read_buffer_statistics(const TracefsInstance& instance, unsigned cpu);

}  // namespace kmt
