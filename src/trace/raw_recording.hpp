// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as it was read from the kernel, not yet in a trace format. Each CPU has a file of ring buffer pages,
// unless a PageSink received the pages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct RawCpu {
  unsigned cpu = 0;
  FileDescriptor pages;  // file with whole pages, starting at offset 0
  std::uint64_t bytes = 0;
  std::string statistics;  // text of per_cpu/cpuN/stats, read after the CPU's last event
};

struct RawRecording {
  KernelDescription kernel;
  std::vector<RawCpu> cpus;  // sorted by CPU number
  // Texts of the statistics of CPUs that are not in `cpus`. The first line of a text is "CPU: N". If a text lacks this
  // line, the CPU of its losses is unknown.
  std::vector<std::string> more_statistics;
};

// Returns a statistics text for losses whose CPU is unknown. The text has no line "CPU: N".
inline std::string lost_somewhere_text(std::uint64_t events) {
  return "dropped events: " + std::to_string(events) + "\n";
}

}  // namespace kmt
