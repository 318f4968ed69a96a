// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics in Prometheus's text format; docs/prometheus.md lists them.
#pragma once

#include <vector>

#include <prometheus/metric_family.h>

#include "results/heap/exported_series.hpp"

namespace kmt {

std::vector<prometheus::MetricFamily> metric_families(const ExportedMetrics& metrics);

}  // namespace kmt
