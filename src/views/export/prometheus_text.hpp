// SPDX-License-Identifier: GPL-2.0-or-later
// Writes all metrics of `serve` in the text format of Prometheus. docs/prometheus.md lists the metrics.
#pragma once

#include <cstddef>
#include <string>

#include "results/heap/exported_series.hpp"
#include "results/snapshot/account.hpp"

namespace kmt {

// At most `most_names` callers of vmalloc have series of their own. Throws Error if the program was built without
// Prometheus.
std::string prometheus_text(const ExportedMetrics& metrics, const MemoryAccount& account, std::size_t most_names);

}  // namespace kmt
