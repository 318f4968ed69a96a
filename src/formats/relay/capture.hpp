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
  std::string path;               // path for messages
  std::vector<CpuFile> files;     // sorted by CPU
  std::vector<unsigned> omitted;  // CPUs whose files are in the folder, but are not read
  std::string kallsyms;           // contents of kallsyms; may be empty
  bool bad_kallsyms = false;      // true if kallsyms exists but has no symbols
  std::optional<std::uint64_t> total_overruns;
  bool bad_total_overruns = false;  // true if total_overruns exists but has no number
};

// Returns the CPU in a file name: 3 for "cpu3.out". Empty if the name has no CPU.
std::optional<unsigned> cpu_of_name(const std::string& path);
// Finds the files of a capture. `paths` is one folder, or the files, which may have any names. Throws Error.
Capture find_capture(const std::vector<std::string>& paths);
// Returns a capture that has only this file.
Capture capture_of(const TraceFile& file);

}  // namespace kmt::relay
