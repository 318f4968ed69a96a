// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of the kernel's own account of its memory: the balance sheet, slab caches, vmalloc, pressure, fragmentation.
#pragma once

#include <cstddef>
#include <vector>

#include <prometheus/metric_family.h>

#include "results/snapshot/account.hpp"

namespace kmt {

// Adds the metrics. At most `most_names` callers of vmalloc have series of their own; all others share "other".
void add_account(const MemoryAccount& account, std::size_t most_names, std::vector<prometheus::MetricFamily>& families);

}  // namespace kmt
