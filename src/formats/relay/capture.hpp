// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a capture in a folder, as kmemtraced writes them: cpu0.out, cpu1.out, …, a copy of /proc/kallsyms and,
// if the user saved it, the kernel's total_overruns.
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
  std::string path;                // for messages
  std::vector<CpuFile> files;      // by CPU
  std::vector<unsigned> left_out;  // CPUs with other files in the folder
  std::string kallsyms;            // may be empty
  bool bad_kallsyms = false;       // it exists, but is not a list of symbols
  std::optional<std::uint64_t> total_overruns;
  bool bad_total_overruns = false;  // it exists, but has no number
};

// Returns the CPU of "cpu3.out"; empty for another name.
std::optional<unsigned> cpu_of_name(const std::string& path);
// Finds the capture in a folder, or in some of its files, whatever the names of CPUs' files. Throws Error.
Capture find_capture(const std::vector<std::string>& paths);
// A capture of one file, without others of its folder.
Capture capture_of(const TraceFile& file);

}  // namespace kmt::relay
