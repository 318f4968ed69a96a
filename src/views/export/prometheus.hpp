// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of the events that BPF programs count, and of `serve` itself. docs/prometheus.md lists the metrics.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "results/heap/exported_series.hpp"

namespace kmt {

std::vector<prometheus::MetricFamily> metric_families(const ExportedMetrics& metrics);

}  // namespace kmt
