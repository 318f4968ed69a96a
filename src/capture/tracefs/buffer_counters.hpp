// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's ring buffers: their CPUs, size and counters, per_cpu/cpuN/stats (kernel/trace/trace.c,
// tracing_stats_read).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct BufferCounters {
  std::uint64_t read = 0;    // events that have left the ring buffer
  std::uint64_t unread = 0;  // events in it
  std::uint64_t unread_bytes = 0;
  std::uint64_t lost = 0;       // events overwritten, dropped, refused by nesting
  std::uint64_t now_ticks = 0;  // of the instance's clock; clocks in nanoseconds are rounded to microseconds

  BufferCounters& operator+=(const BufferCounters& other);  // except times
};

BufferCounters parse_buffer_counters(const std::string& statistics);
// Returns the text; empty if the CPU has none. `buffer` is an instance's path, or tracefs itself.
std::string read_buffer_statistics(const std::string& buffer, unsigned cpu);
// Returns the buffer's real size in bytes: the kernel rounds requests. 0: unknown.
std::uint64_t read_buffer_size(const std::string& buffer, unsigned cpu);

// Returns the CPUs with a ring buffer, in order, at least one. `buffer`: as above. Throws Error.
std::vector<unsigned> ring_buffer_cpus(const std::string& buffer);
// Returns the size of a ring buffer's pages in bytes, from events/header_page. 0: unknown.
std::uint32_t sub_buffer_bytes(const std::string& header_page);

}  // namespace kmt
