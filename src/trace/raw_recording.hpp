// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as it came from the kernel, not yet in any trace format: ring-buffer pages, one file a CPU, unless a
// PageSink took them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "trace/kernel_description.hpp"

namespace kmt {

struct RawCpu {
  unsigned cpu = 0;
  FileDescriptor pages;  // whole pages from offset 0 on
  std::uint64_t bytes = 0;
  std::string statistics;  // per_cpu/cpuN/stats when everything had been read
};

struct RawRecording {
  KernelDescription kernel;
  std::vector<RawCpu> cpus;  // by number
  // Statistics of other CPUs, each after a line "CPU: N". Without that line: losses of no particular CPU.
  std::vector<std::string> more_statistics;
};

// The statistics without that line: the number of lost events.
inline std::string lost_somewhere_text(std::uint64_t events) {
  return "dropped events: " + std::to_string(events) + "\n";
}

}  // namespace kmt
