// SPDX-License-Identifier: GPL-2.0-or-later
// The option --metric, for commands that show one number per stack.
#pragma once

#include <string>

#include <fmt/format.h>

#include "cli/support/options.hpp"
#include "cli/support/suggest.hpp"
#include "views/common/stack_profile.hpp"

namespace kmt {

// Adds the option --metric, with a list of the metrics. `metric` must outlive the command.
inline void add_metric_option(Command& command, std::string& metric, const std::string& help) {
  std::string text = help;
  for (const StackMetricInfo& info : stack_metrics()) text += fmt::format("\n  {:<12} {}", info.name, info.meaning);
  command.option("--metric", &metric, "METRIC", text);
}

// Returns the metric with this name. Throws Error if there is no such metric.
inline StackMetric metric_named(const std::string& name) {
  std::vector<std::string> names;
  for (const StackMetricInfo& info : stack_metrics()) {
    if (info.name == name) return info.metric;
    names.emplace_back(info.name);
  }
  throw unknown_name("Unknown metric", name, names);
}

}  // namespace kmt
