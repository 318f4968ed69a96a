// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the input of `investigate --from`, which is a trace and copies of kernel files from another machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/snapshot/snapshot.hpp"
#include "trace/state/sample.hpp"

namespace kmt {

struct CopiedKernel {
  std::optional<SnapshotResult> before;
  std::optional<SnapshotResult> after;
  std::string before_path;  // of these
  std::string after_path;
  // the kernel's counters at several times; one state per folder of copies, sorted by time; ticks are in ns on one
  // clock
  std::vector<StateSample> states;
  std::string no_order;                    // reason why the order of the states is uncertain
  std::string no_times;                    // reason why times are unknown; if not empty, all ticks are 0
  std::vector<std::string> only_slabinfo;  // names of folders that have slabinfo but no meminfo
  std::vector<std::string> lacking_slabinfo;
  std::vector<std::string> lacking_meminfo;  // unused folders, whose files are not meminfo or slabinfo
  std::vector<std::string> damaged;          // unusable folders, each with the reason
  bool is_log = false;                       // the states are reports in the kernel's log
  std::uint32_t page_size = 4096;
  std::string trace;     // path of the trace; empty if there is none
  std::string evidence;  // path of the evidence that `investigate` wrote; empty if there is none
};

// Reads the reports in a log or in an archive with a log if `folder` is a file or has only a log. Otherwise:
// Reads FOLDER/before and FOLDER/after, or .kmt files with these names, or folders with copies in any number. Folders
// are sorted by name, or else by their uptime files. Also reads FOLDER/trace.kmt, trace.dat or perf.data. If
// `duration_ns` is not 0, states are spread evenly over it; otherwise times are from uptime. Throws Error if there are
// neither two states nor a trace.
CopiedKernel read_copies(const std::string& folder, std::uint64_t duration_ns);

}  // namespace kmt
