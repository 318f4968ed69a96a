// SPDX-License-Identifier: GPL-2.0-or-later
// Finds copies of the kernel's files and logs. They may be in a single log, in a folder that a support tool wrote
// (sosreport, insights, kdump, must-gather), or in an archive of such a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct Copies {
  std::optional<StateSample> state;  // the copied files of /proc and /sys; empty if there is no meminfo
  // Memory reports in the kernel's log, ordered by time. `ticks` are nanoseconds since the first report.
  std::vector<StateSample> reports;
  bool reports_have_times = false;   // if false, `ticks` of all reports are 0
  std::size_t unusable_reports = 0;  // number of reports that do not show the total of memory
  bool last_is_unusable = false;     // true: the last report of the log does not show the total of memory
  // number of reports whose lines are mixed with lines of other reports and cannot be separated
  std::size_t mixed_reports = 0;
  std::size_t foreign_reports = 0;    // number of reports whose machine or kernel is not that of the last one
  std::size_t cgroup_reports = 0;     // number of unused reports about a cgroup that reached its limit
  std::size_t repeated_reports = 0;   // number of reports that are copies of another report in the log
  std::size_t reports_of_killed = 0;  // number of reports about failed allocations of a process that was just killed
  std::size_t dropped_reports = 0;    // number of oldest reports that were dropped because the log has too many
  std::size_t earlier_reports = 0;    // number of reports from earlier boots
  std::string other_logs;             // paths of unused logs with other reports, separated by commas
  std::string cgroup;                 // the cgroup whose memory all `reports` show; empty: they show the machine's
  std::string log;                    // path of the file with the reports
  std::vector<std::string> files;     // paths of the files that were read, relative to the folder or archive
  std::uint64_t uptime_ns = 0;        // time from boot to `state`; 0 if unknown
  std::string damage;                 // why the archive could be read only partly
};

// Reads a file with the content `bytes`: an archive, a copy of meminfo, or a text with the kernel's log. The parameter
// `path` is the path of this file. Throws Error if the file contains nothing about memory.
Copies copies_in_file(const std::string& path, Bytes bytes);
// Reads a folder. Throws Error if it has copies of several machines, or nothing about memory.
Copies copies_in_folder(const std::string& folder);

// True if the text has a report that copies_in_file() could read. False for binary files and traces.
bool has_report(Bytes bytes);

}  // namespace kmt
