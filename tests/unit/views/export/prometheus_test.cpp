// SPDX-License-Identifier: GPL-2.0-or-later
// Tests metrics that the running kernel does not always have. tests/live/serve_test.py reads all others from a server.
#include "views/export/prometheus.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace kmt {
namespace {

const prometheus::MetricFamily* family(const std::vector<prometheus::MetricFamily>& families, const std::string& name) {
  const auto found = std::ranges::find(families, name, &prometheus::MetricFamily::name);
  return found == families.end() ? nullptr : &*found;
}

TEST(Prometheus, NamesTheFunctionsThatAreNotCounted) {
  ExportedMetrics metrics;
  EXPECT_EQ(family(metric_families(metrics), "kmemtrace_uncounted_function"), nullptr);
  metrics.uncounted.functions = {"kmem_cache_free_bulk", "kfree_nolock"};
  metrics.uncounted.reason = "--no-probes";
  const auto families = metric_families(metrics);
  const prometheus::MetricFamily* const uncounted = family(families, "kmemtrace_uncounted_function");
  ASSERT_NE(uncounted, nullptr);
  ASSERT_EQ(uncounted->metric.size(), 2u);
  EXPECT_EQ(uncounted->metric[0].gauge.value, 1);
  EXPECT_EQ(uncounted->metric[0].label[0].value, "kmem_cache_free_bulk");
  EXPECT_EQ(uncounted->metric[0].label[1].value, "--no-probes");
}

TEST(Prometheus, CountsMissedCallsApartFromMissedEvents) {
  ExportedMetrics metrics;
  metrics.losses.missed_frees = 3;
  metrics.uncounted.missed_calls = 7;
  const auto families = metric_families(metrics);
  const prometheus::MetricFamily* const missed = family(families, "kmemtrace_missed_total");
  ASSERT_NE(missed, nullptr);
  const auto value_of = [missed](const std::string& what) {
    for (const prometheus::ClientMetric& metric : missed->metric)
      if (metric.label[0].value == what) return metric.counter.value;
    return -1.0;
  };
  EXPECT_EQ(value_of("frees"), 3);
  EXPECT_EQ(value_of("calls_without_tracepoint"), 7);
}

}  // namespace
}  // namespace kmt
