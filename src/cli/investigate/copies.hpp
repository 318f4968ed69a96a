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
  std::string no_order;                    // why it is not sure which state came first
  std::string no_times;                    // why times are not known: ticks are 0 then
  std::vector<std::string> only_slabinfo;  // names of those that have no meminfo
  std::vector<std::string> lacking_slabinfo;
  std::vector<std::string> lacking_meminfo;  // of folders with others yet, which nothing is made of
  std::vector<std::string> damaged;          // likewise, and why
  std::uint32_t page_size = 4096;
  std::string trace;     // path; empty: there is none
  std::string evidence;  // path of what `investigate` itself kept there; empty: it did not
};

// FOLDER/before and FOLDER/after, or .kmt files of that name, or any folders with copies in them, in the order that
// their names say or else the file uptime in each; and FOLDER/trace.kmt, .dat or perf.data. Times are those of uptime,
// or evenly spread over `duration_ns` where that is not 0. Throws Error where there is neither a trace nor two states.
CopiedKernel read_copies(const std::string& folder, std::uint64_t duration_ns);

}  // namespace kmt
