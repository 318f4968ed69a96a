// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the CPUs, sizes and counters of the kernel's ring buffers (per_cpu/cpuN/stats; tracing_stats_read in
// kernel/trace/trace.c).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

struct BufferCounters {
  std::uint64_t read = 0;    // number of events that have left the ring buffer
  std::uint64_t unread = 0;  // number of events still in the ring buffer
  std::uint64_t unread_bytes = 0;
  std::uint64_t lost = 0;       // number of events overwritten, dropped, or refused because of nesting
  std::uint64_t now_ticks = 0;  // time of the instance's clock; clocks in nanoseconds are rounded to microseconds

  BufferCounters& operator+=(const BufferCounters& other);  // adds all members except now_ticks
};

BufferCounters parse_buffer_counters(const std::string& statistics);
// Returns the text of per_cpu/cpuN/stats; empty if the CPU has none. `buffer` is the path of an instance or of tracefs
// itself.
std::string read_buffer_statistics(const std::string& buffer, unsigned cpu);
// Returns the statistics with 0 events overwritten ("overrun").
std::string without_overrun(const std::string& statistics);
// Returns the statistics without the present time ("now ts").
std::string without_time(const std::string& statistics);
// Returns the buffer's actual size in bytes (the kernel rounds the requested size); 0 if unknown.
std::uint64_t read_buffer_size(const std::string& buffer, unsigned cpu);

// Returns the CPUs that have a ring buffer, in order. There is at least one. `buffer` is the path of an instance or of
// tracefs itself. Throws Error.
std::vector<unsigned> ring_buffer_cpus(const std::string& buffer);
// Returns the size of a ring buffer's pages in bytes, from events/header_page; 0 if unknown.
std::uint32_t sub_buffer_bytes(const std::string& header_page);
// Returns the size of the kernel's `long` in bytes, from events/header_page; 0 if unknown.
std::uint32_t kernel_long_bytes(const std::string& header_page);

}  // namespace kmt
