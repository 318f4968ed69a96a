// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as read from the kernel, not yet in a trace format. It consists of ring buffer pages in one file for each
// CPU, unless a PageSink received them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct RawCpu {
  unsigned cpu = 0;
  FileDescriptor pages;  // whole pages, starting at offset 0
  std::uint64_t bytes = 0;
  std::string statistics;  // per_cpu/cpuN/stats after all events had been read
};

struct RawRecording {
  KernelDescription kernel;
  std::vector<RawCpu> cpus;  // by number
  // Statistics of other CPUs. The first line is "CPU: N". Without that line, the losses belong to no particular CPU.
  std::vector<std::string> more_statistics;
};

// Returns statistics without a CPU line, for losses of unknown CPUs.
inline std::string lost_somewhere_text(std::uint64_t events) {
  return "dropped events: " + std::to_string(events) + "\n";
}

}  // namespace kmt
