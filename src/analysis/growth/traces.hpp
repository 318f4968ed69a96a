// SPDX-License-Identifier: GPL-2.0-or-later
// Finds growth in a recording, by stack (or call site) and process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "results/growth/investigation.hpp"
#include "results/report/report.hpp"

namespace kmt {

// Returns the report keys by which the report for trace_growth() must be grouped.
std::vector<GroupKey> keys_of_growth(bool by_stack);
// Computes growth from a report with histories that is grouped by the keys above. Subtracts bytes that may have been
// freed through an untraced path. Excludes groups that consist mostly of such bytes. If only tasks of other names free
// such objects through untraced paths (Doubt::reallocated), the objects still count as live.
GrowthSeen trace_growth(const ReportResult& report);

// Fills in the version 1 cgroup of groups whose process is in the root cgroup of version 2 or in an unknown cgroup. If
// the version 1 cgroup is unknown too, it stays empty.
void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen);

// Changes the task name of all groups of a process to the name of the process. If a thread has another name, `thread`
// keeps it. `name_of` returns the name of a process, or an empty string if the process has ended. In this case, the
// name with the most bytes is used.
void name_processes(const std::function<std::string(std::uint32_t)>& name_of, GrowthSeen& seen);

}  // namespace kmt
