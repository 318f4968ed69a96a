// SPDX-License-Identifier: GPL-2.0-or-later
// What a recording tells of growth, by stack (or call site) and process.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"
#include "results/report/report.hpp"

namespace kmt {

// What trace_growth() asks a report to group by.
std::vector<GroupKey> keys_of_growth(bool by_stack);
// Of a report with histories by those keys. Bytes that may be freed without the trace telling it are taken out; groups
// of which that is most are left out. What only others free unseen (Doubt::reallocated) is live: tasks of one name are
// judged by what they did there themselves.
GrowthSeen trace_growth(const ReportResult& report);

// Where version 1 accounts memory: of processes in the root of version 2 or in no known cgroup. Empty: not known.
void name_memory_cgroups(const MemoryCgroups& cgroups, GrowthSeen& seen);

}  // namespace kmt
