// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/metrics_server.hpp"

#include "base/parts/missing_part.hpp"
#include "cli/watch/webhook.hpp"

namespace kmt {

namespace {

Error missing() {
  return missing_part("serve metrics for Prometheus", "prometheus-cpp-dev, libcpp-httplib-dev and libssl-dev",
                      "PROMETHEUS");
}

}  // namespace

struct MetricsServer::State {};

MetricsServer::MetricsServer(std::string) { throw missing(); }

MetricsServer::~MetricsServer() = default;

void check_webhook(const std::string&) { throw missing(); }

std::string post_json(const std::string&, const std::string&) { throw missing(); }

void MetricsServer::listen(MetricsPages) { throw missing(); }

void MetricsServer::check() const {}

}  // namespace kmt
