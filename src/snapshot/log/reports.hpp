// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the memory reports in a kernel log that can be compared with each other: those of the same machine and boot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "snapshot/log/oom_report.hpp"

namespace kmt {

// The reports in one log.
struct LogReports {
  std::vector<OomReport> usable;      // reports of one boot that show the total of memory
  std::vector<OomReport> unusable;    // reports that do not show the total of memory, or whose first lines are lost
  std::vector<OomReport> of_cgroups;  // reports about a cgroup that reached its limit
  std::size_t unused_of_cgroups = 0;
  std::size_t mixed = 0;
  std::size_t dropped = 0;  // number of the oldest reports that were dropped because the log has too many
  std::size_t earlier = 0;  // number of reports from earlier boots
  std::size_t foreign = 0;  // number of reports of other machines or kernels
  std::size_t repeated = 0;
  std::size_t of_killed = 0;  // number of reports about failed allocations of the process that was just killed

  bool has_any() const { return !usable.empty() || !unusable.empty() || !of_cgroups.empty() || mixed != 0; }
};

// Sorts the reports of a log into the lists of LogReports.
LogReports log_reports(std::string_view text);

// True if `a` ends later than `b`. If this is unknown or the logs end with the same report, true if `a` has at least as
// many reports: first usable ones are compared, then unusable ones, then those about cgroups.
bool is_preferred(const LogReports& a, const LogReports& b);
// True if `a` lacks a report that `b` could use.
bool lacks_reports_of(const LogReports& a, const LogReports& b);

// If the log has no complete report about the machine, moves the best other reports to `usable`: an incomplete one,
// or those about the cgroup of the last kill. Returns true if the log has later reports that are not used.
bool choose_reports(LogReports& log);

// Returns the times of all reports on one clock: time since boot if every report has it, otherwise wall-clock time.
// Empty if reports lack a time, or if times go backwards.
std::vector<std::uint64_t> times_of(const std::vector<OomReport>& reports);

}  // namespace kmt
