// SPDX-License-Identifier: GPL-2.0-or-later
// What trace.dat and .kmt files say of the traced machine, as it stands in the file, and what follows from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/kernel_description.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Ticks of the trace's clock to nanoseconds.
struct ClockScale {
  std::uint32_t mult = 0;  // ns = ticks × mult >> shift; 0: ticks are nanoseconds
  std::uint32_t shift = 0;
  std::int64_t offset_ns = 0;  // added afterwards

  std::uint64_t to_ns(std::uint64_t ticks) const {
    __extension__ using Wide = unsigned __int128;
    if (mult != 0) ticks = static_cast<std::uint64_t>((Wide{ticks} * mult) >> shift);
    return ticks + static_cast<std::uint64_t>(offset_ns);
  }
};

struct TraceDescription {
  KernelDescription kernel;  // the names of the machine come from `uname`
  std::string uname;         // "Linux HOST 6.1.0-47-amd64 x86_64"
  ClockScale scale;
  // per_cpu/cpuN/stats behind a line "CPU: N". kmemtrace adds lines of its own: "node: N", the CPU's NUMA node, and
  // "not recorded: N", events that were left when the recorder had to give up.
  std::vector<std::string> cpu_stats;
};

// Fills the machine's part of the info, and the findings that the statistics give cause to. Throws Error when the
// description of the ring buffer's pages is missing or cannot be parsed. Takes kallsyms, which is large, away.
void describe_trace(TraceDescription& description, TraceInfo& info);

}  // namespace kmt
