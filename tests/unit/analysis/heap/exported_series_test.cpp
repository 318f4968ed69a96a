// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/exported_series.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "views/export/prometheus.hpp"

namespace kmt {
namespace {

TopRow row(std::string name, std::uint64_t events, std::uint64_t bytes, double live = 0) {
  TopRow row;
  row.name = std::move(name);
  row.events_now = events;
  row.bytes_now = bytes;
  if (live > 0) row.live_bytes = Estimate{live, live, live};
  return row;
}

const ExportedRow& find(const std::vector<ExportedRow>& rows, const std::string& name) {
  for (const ExportedRow& row : rows)
    if (row.name == name) return row;
  throw std::runtime_error("no row " + name);
}

TEST(ExportedSeries, OnlyTheLargestHaveSeparateSeries) {
  ExportedSeries series(2);
  series.add({row("a", 1, 100), row("b", 2, 300), row("c", 3, 200)});
  series.add({row("a", 10, 9000), row("b", 0, 0), row("c", 5, 50)});
  const std::vector<ExportedRow> rows = series.rows();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.back().name, "other");
  EXPECT_EQ(find(rows, "b").events, 2u);
  EXPECT_EQ(find(rows, "c").bytes, 250u);
  EXPECT_EQ(find(rows, "other").events, 11u);  // "a" (1 + 10 events) has no series: both are taken
  EXPECT_EQ(find(rows, "other").bytes, 9100u);
}

TEST(ExportedSeries, LiveBytesAreThoseOfTheLastInterval) {
  ExportedSeries series(1);
  series.add({row("a", 1, 100, 4096), row("b", 1, 10, 100)});
  series.add({row("a", 1, 100, 1000), row("b", 1, 10, 200)});
  EXPECT_DOUBLE_EQ(find(series.rows(), "a").live_bytes, 1000);
  EXPECT_DOUBLE_EQ(find(series.rows(), "other").live_bytes, 200);
}

TEST(ExportedSeries, IdleSeriesWithoutLiveBytesAreRemoved) {
  ExportedSeries series(1);
  series.add({row("a", 1, 100)});
  for (int i = 0; i < 700; ++i) series.add({row("a", 0, 0)});
  series.add({row("b", 1, 100)});
  EXPECT_EQ(find(series.rows(), "b").events, 1u);
  ExportedSeries holding(1);
  holding.add({row("a", 1, 100, 4096)});
  for (int i = 0; i < 700; ++i) holding.add({row("a", 0, 0, 4096)});
  holding.add({row("b", 1, 100)});
  EXPECT_EQ(find(holding.rows(), "other").events, 1u);
}

TEST(ExportedSeries, CachesWithOneNameAreSeparateByTheirSize) {
  ExportedMetrics metrics;
  metrics.cache_objects = {{"twin", 64, 5, 1, {}}, {"twin", 128, 7, 2, {}}};
  std::map<std::string, double> values;
  for (const prometheus::MetricFamily& family : metric_families(metrics)) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string id = family.name;
      for (const auto& label : metric.label) id += "," + label.name + "=" + label.value;
      EXPECT_TRUE(values.emplace(id, metric.counter.value).second) << id;
    }
  }
  EXPECT_EQ(values.at("kmemtrace_cache_objects_allocated_bytes_total,cache=twin,object_bytes=128"), 7 * 128);
  EXPECT_EQ(values.at("kmemtrace_cache_objects_freed_total,cache=twin,object_bytes=64"), 1);
  metrics.cache_objects.reset();  // a kernel before Linux 6.13
  for (const prometheus::MetricFamily& family : metric_families(metrics))
    EXPECT_FALSE(family.name.starts_with("kmemtrace_cache_objects_")) << family.name;
}

}  // namespace
}  // namespace kmt
