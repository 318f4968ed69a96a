// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parts/missing_part.hpp"
#include "views/export/prometheus_text.hpp"

namespace kmt {

std::string prometheus_text(const ExportedMetrics&, const MemoryAccount&, std::size_t) {
  throw missing_part("serve metrics for Prometheus", "prometheus-cpp-dev, libcpp-httplib-dev and libssl-dev",
                     "PROMETHEUS");
}

}  // namespace kmt
