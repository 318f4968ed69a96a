// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the input of `investigate --from`, which is a trace and copies of kernel files from another machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/snapshot/snapshot.hpp"
#include "trace/state/kernel_memory.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct CopiedKernel {
  std::optional<SnapshotResult> before;
  std::optional<SnapshotResult> after;
  std::string before_path;  // the file, folder or report of `before`
  std::string after_path;
  // the kernel's counters at several times; one state per folder of copies, sorted by time; ticks are in ns on one
  // clock
  std::vector<StateSample> states;
  std::string no_order;                    // reason why the order of the states is uncertain
  std::string no_times;                    // reason why times are unknown; if not empty, all ticks are 0
  std::vector<std::string> only_slabinfo;  // names of folders that have slabinfo but no meminfo
  std::vector<std::string> lacking_slabinfo;
  // names of unused folders that have copies of other files, but neither meminfo nor slabinfo
  std::vector<std::string> lacking_meminfo;
  std::vector<std::string> damaged;  // names of unusable folders and snapshots, each with the reason
  bool is_log = false;               // true: the states are reports from the kernel's log
  std::vector<MissingSource> notes;  // notes about damaged archives and unused reports
  std::uint32_t page_size = 4096;
  std::string trace;     // path of the trace; empty if there is none
  std::string evidence;  // path of the evidence that `investigate` wrote; empty if there is none
  std::string objects;   // path of the kinds of objects that `investigate` wrote with it; empty if there are none
};

// Reads the copies and traces in a folder. If `folder` is a file or has only a kernel log, reads the reports in the
// log. The file may also be an archive with a log. Otherwise, reads FOLDER/before and FOLDER/after, two .kmt files with
// these names, or any number of folders with copies. Folders are sorted by name. If the names show no order, folders
// are sorted by the uptime files in them. Also reads FOLDER/trace.kmt, trace.dat or perf.data. If `duration_ns` is not
// 0, the copies are assumed to be spread evenly over this time. Otherwise, the times of the copies are read from
// uptime. Throws Error if there is no trace and fewer than two states.
CopiedKernel read_copies(const std::string& folder, std::uint64_t duration_ns);

}  // namespace kmt
