// SPDX-License-Identifier: GPL-2.0-or-later
// `investigate --from`: copies of the kernel's files from another machine, and a trace.
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
  std::vector<StateSample> states;         // of folders with copies, by time; ticks are ns of one clock
  std::string no_order;                    // why the order of states is uncertain
  std::string no_times;                    // why times are unknown: ticks are 0 then
  std::vector<std::string> only_slabinfo;  // names of those without meminfo
  std::vector<std::string> lacking_slabinfo;
  std::vector<std::string> lacking_meminfo;  // folders with other files, which are not used
  std::vector<std::string> damaged;          // likewise, with the reason
  std::uint32_t page_size = 4096;
  std::string trace;     // path; empty: there is none
  std::string evidence;  // path of evidence that `investigate` itself kept; empty: none
};

// Reads FOLDER/before and FOLDER/after, or .kmt files of these names, or any folders with copies, in the order of their
// names or else of their uptime files; and FOLDER/trace.kmt, .dat or perf.data. Times come from uptime, or are evenly
// spread over `duration_ns` unless 0. Throws Error without a trace and without two states.
CopiedKernel read_copies(const std::string& folder, std::uint64_t duration_ns);

}  // namespace kmt
