// SPDX-License-Identifier: GPL-2.0-or-later
// Decides which groups of a report grow. Also decides whether memory that is certainly live explains the growth.
#pragma once

#include <vector>

#include "results/report/leaks.hpp"

namespace kmt {

// Returns the verdict on each group of a report. Growth is certain if three conditions are met. The lower bound of the
// rate is above the threshold. Growth continues in the second half of the time. And the rise is steadier than that of
// any group in 95 % of reports about random walks. The more groups a report has, the steadier the rise must be. All
// three conditions must also hold without the doubtful bytes, which then count as freed immediately. A group that
// exists for less than a second has no verdict, because programs that start look like leaks. `report` must contain
// histories.
LeaksResult leaks_of(const ReportResult& report, double threshold_bytes_per_s);

// Returns the default keys for grouping. Stacks are best; without stacks, the caller of the allocation functions is
// used. Only slab and percpu events have call sites. Without stacks, pages are therefore grouped by order.
std::vector<GroupKey> usual_leak_keys(bool by_stack);

}  // namespace kmt
