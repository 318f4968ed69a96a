// SPDX-License-Identifier: GPL-2.0-or-later
// `investigate --from`: copies of the kernel's files from another machine, and a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/snapshot.hpp"
#include "trace/state_sample.hpp"

namespace kmt {

struct CopiedKernel {
  std::optional<SnapshotResult> before;
  std::optional<SnapshotResult> after;
  std::vector<StateSample> states;  // of folders with copies, by time; ticks are ns of one clock
  std::string no_times;             // why their times are not known: states are by name then, ticks 0
  std::uint32_t page_size = 4096;
  std::string trace;  // path; empty: there is none
};

// FOLDER/before and FOLDER/after, or .kmt files of that name, or any folders with copies in them, which are taken by
// the time of the file uptime if each has one, or else by when their meminfo was last written; and FOLDER/trace.kmt,
// .dat or perf.data. Throws Error where there is neither a trace nor two states.
CopiedKernel read_copies(const std::string& folder);

}  // namespace kmt
