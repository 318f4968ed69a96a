// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out which processes hold the memory of a finding, and whether these processes still run.
#pragma once

#include <vector>

#include "results/growth/investigation.hpp"

namespace kmt {

// Counts the processes of a finding, and those that have ended. Marks ended processes in the list.
void add_process_counts(const InvestigationEvidence& evidence, const std::vector<const GrowthGroup*>& groups,
                        GrowthFinding& finding);

// True if the memory grows only because the number of processes grows. In this case, most of the memory belongs to many
// processes that started during the observation and still run. None of these processes takes more and more memory.
bool is_held_by_new_processes(const InvestigationEvidence& evidence, const std::vector<const GrowthGroup*>& groups);

}  // namespace kmt
