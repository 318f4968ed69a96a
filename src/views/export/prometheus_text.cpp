// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/prometheus_text.hpp"

#include <prometheus/text_serializer.h>

#include "views/export/prometheus.hpp"
#include "views/export/prometheus_account.hpp"

namespace kmt {

std::string prometheus_text(const ExportedMetrics& metrics, const MemoryAccount& account, std::size_t most_names) {
  std::vector<prometheus::MetricFamily> families = metric_families(metrics);
  add_account(account, most_names, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace kmt
