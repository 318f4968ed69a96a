// SPDX-License-Identifier: GPL-2.0-or-later
// Growth in a recording, by stack (or call site) and process.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"
#include "results/report/report.hpp"

namespace kmt {

// Returns the keys of the report for trace_growth().
std::vector<GroupKey> keys_of_growth(bool by_stack);
// Takes a report with histories by those keys. Removes bytes that may be freed untraced, and excludes groups that
// mostly consist of them. If only other tasks free such objects untraced (Doubt::reallocated), they are live: tasks of
// one name are judged by their own frees.
GrowthSeen trace_growth(const ReportResult& report);

// Gives groups their cgroup of version 1 if their process is in the root of version 2 or in no known cgroup; empty if
// it is unknown.
void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen);

}  // namespace kmt
