// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own account of each CPU's ring buffer (per_cpu/cpuN/stats).
#pragma once

#include <string>
#include <vector>

#include "capture/tracefs/instance.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

struct CpuStats {
  BufferStatistics numbers;
  std::string text;  // the file, byte for byte; empty when it cannot be read
};

CpuStats read_cpu_stats(const Instance& instance, unsigned cpu);

inline std::uint64_t lost_events(const BufferStatistics& numbers) {
  return numbers.overrun + numbers.commit_overrun + numbers.dropped;
}

// The CPUs that the instance has buffers for, whether online or not, ascending.
std::vector<unsigned> buffer_cpus(const Instance& instance);

}  // namespace kmt
