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

// Returns the report keys that trace_growth() needs.
std::vector<GroupKey> keys_of_growth(bool by_stack);
// Computes growth from a report with histories by the keys above. Subtracts bytes that may have been freed through an
// untraced path, and excludes groups that consist mostly of such bytes. Objects count as live if only other tasks free
// such objects through untraced paths (Doubt::reallocated): tasks of one name are judged by their own frees.
GrowthSeen trace_growth(const ReportResult& report);

// Fills in the version 1 cgroup of groups whose process is in the root cgroup of version 2 or in an unknown cgroup. If
// the version 1 cgroup is unknown too, it stays empty.
void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen);

// Changes the task name of all groups of a process to the name of the process. A thread name that differs goes to
// `thread`. `name_of` returns the name of a process. If the process has ended, it returns an empty string, and the name
// with the most bytes is used.
void name_processes(const std::function<std::string(std::uint32_t)>& name_of, GrowthSeen& seen);

}  // namespace kmt
