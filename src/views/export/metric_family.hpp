// SPDX-License-Identifier: GPL-2.0-or-later
// Builds the metrics of Prometheus. All names start with "kmemtrace_".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace kmt {

// One metric with all its series.
class Family {
 public:
  static Family counter(std::string_view name, std::string help) {
    return {name, std::move(help), prometheus::MetricType::Counter};
  }
  static Family gauge(std::string_view name, std::string help) {
    return {name, std::move(help), prometheus::MetricType::Gauge};
  }

  void add(std::vector<prometheus::ClientMetric::Label> labels, double value) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    (family_.type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family_.metric.push_back(std::move(metric));
  }
  // Adds the metric to `families`, unless it has no series.
  void move_to(std::vector<prometheus::MetricFamily>& families) {
    if (!family_.metric.empty()) families.push_back(std::move(family_));
  }

 private:
  Family(std::string_view name, std::string help, prometheus::MetricType type) {
    family_.name = "kmemtrace_" + std::string(name);
    family_.help = std::move(help);
    family_.type = type;
  }

  prometheus::MetricFamily family_;
};

// Adds a metric with one series that has no labels.
inline void add_single(Family family, double value, std::vector<prometheus::MetricFamily>& families) {
  family.add({}, value);
  family.move_to(families);
}

}  // namespace kmt
