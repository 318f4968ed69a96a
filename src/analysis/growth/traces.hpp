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
// Computes growth from a report with histories by the keys above. Bytes that may have been freed untraced are removed,
// and groups that mostly consist of such bytes are excluded. Objects count as live if only other tasks free such
// objects untraced (Doubt::reallocated): tasks of one name are judged by their own frees.
GrowthSeen trace_growth(const ReportResult& report);

// Sets the version 1 cgroup of groups whose process is in the root cgroup of version 2 or in no known cgroup. Leaves it
// empty if unknown.
void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen);

// Names all groups of a process after the process, and moves different names of its threads to `thread`. `name_of`
// returns the name of a process, or an empty string if it has ended; then the name with the most bytes is used.
void name_processes(const std::function<std::string(std::uint32_t)>& name_of, GrowthSeen& seen);

}  // namespace kmt
