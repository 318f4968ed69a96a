// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the files that kmemtraced writes into a folder: cpu0.out, cpu1.out, …, and a copy of /proc/kallsyms. The user
// may also have saved the kernel's total_overruns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/trace_file.hpp"

namespace kmt::relay {

struct CpuFile {
  unsigned cpu = 0;
  TraceFile file;
};

struct Capture {
  std::string path;                // used in messages
  std::vector<CpuFile> files;      // sorted by CPU
  std::vector<unsigned> left_out;  // CPUs whose files in the folder are not read
  std::string kallsyms;            // contents of kallsyms; may be empty
  bool bad_kallsyms = false;       // true if kallsyms exists but has no symbols
  std::optional<std::uint64_t> total_overruns;
  bool bad_total_overruns = false;  // true if total_overruns exists but has no number
};

// Returns 3 for "cpu3.out". Empty for a name without a CPU.
std::optional<unsigned> cpu_of_name(const std::string& path);
// Finds the capture in a folder, or in the given files, which may have any names. Throws Error.
Capture find_capture(const std::vector<std::string>& paths);
// Returns a capture with only this file, without other files of its folder.
Capture capture_of(const TraceFile& file);

}  // namespace kmt::relay
