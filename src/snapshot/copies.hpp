// SPDX-License-Identifier: GPL-2.0-or-later
// Finds copies of the kernel's files and logs in whatever a user has: a log, a folder of a support tool (sosreport,
// insights, kdump, must-gather), or an archive of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct Copies {
  std::optional<StateSample> state;  // the copied files; empty if there is no meminfo
  std::vector<StateSample> reports;  // reports in the kernel's log, by time; `ticks` are ns since the first report
  bool reports_have_times = false;   // false: all ticks are 0
  std::size_t unusable_reports = 0;  // reports without total or free memory
  std::size_t dropped_reports = 0;   // the oldest reports, if the log has too many
  std::size_t earlier_reports = 0;   // reports before the last boot with reports; they are not in `reports`
  std::string log;                   // the file with the reports
  std::vector<std::string> files;    // paths of the files that were read, in the folder or archive
  std::uint64_t uptime_ns = 0;       // of `state`; 0: unknown
  std::string damage;                // why the archive could be read only partly
};

// Reads a file: an archive, or a text with the kernel's log or a copy of meminfo. `path` is its name. Throws Error if
// it contains nothing about memory.
Copies copies_in_file(const std::string& path, Bytes bytes);
// Reads a folder. Throws Error if it has copies of several machines, or nothing about memory.
Copies copies_in_folder(const std::string& folder);

// True if the text has a report that copies_in_file() could read. False for binary files and traces. Looks only at the
// first 256 MiB.
bool has_report(Bytes bytes);

}  // namespace kmt
