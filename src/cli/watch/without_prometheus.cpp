// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/metrics_server.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

struct MetricsServer::State {};

MetricsServer::MetricsServer(std::string) {
  throw missing_part("serve metrics for Prometheus", "prometheus-cpp-dev", "PROMETHEUS");
}

MetricsServer::~MetricsServer() = default;

void MetricsServer::set(ExportedMetrics) {}

void MetricsServer::listen() {}

}  // namespace kmt
