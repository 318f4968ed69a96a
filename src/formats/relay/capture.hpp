// SPDX-License-Identifier: GPL-2.0-or-later
// The files of a capture as kmemtraced left them in a folder: cpu0.out, cpu1.out, …, beside them a copy of
// /proc/kallsyms and, where somebody kept it, the kernel's total_overruns.
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
  std::vector<unsigned> left_out;  // CPUs whose files are beside these
  std::string kallsyms;            // may be empty
  bool bad_kallsyms = false;       // it is there, but no list of symbols
  std::optional<std::uint64_t> total_overruns;
  bool bad_total_overruns = false;  // it is there, but holds no number
};

// The CPU of "cpu3.out"; empty: another name.
std::optional<unsigned> cpu_of_name(const std::string& path);
// Of a folder, or of some of its files, whatever those of CPUs are called. Throws Error.
Capture find_capture(const std::vector<std::string>& paths);
// Of a file alone, with nothing beside it.
Capture capture_of(const TraceFile& file);

}  // namespace kmt::relay
