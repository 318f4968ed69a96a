// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/exported_series.hpp"

#include <set>

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
  EXPECT_EQ(find(rows, "other").events, 11u);  // includes "a": it grew when both rows were taken
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

TopRow cache_row(const std::string& name, std::uint32_t object_bytes, std::uint64_t allocations, std::uint64_t frees) {
  const CacheCounts counts{CacheCounting::counted, {{name, object_bytes, allocations, frees, {}}}, 0};
  return rows_of_caches(counts, counts).front();
}

TEST(ExportedSeries, CachesWithOneNameAreSeparateByTheirSize) {
  ExportedSeries series(3);
  series.add({cache_row("twin", 64, 5, 1), cache_row("twin", 128, 7, 2), cache_row("filp", 192, 3, 3),
              cache_row("late", 8, 1, 1)});
  series.add({cache_row("twin", 64, 0, 4), cache_row("late", 16, 2, 1)});
  const std::vector<ExportedRow> rows = series.rows();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1].object_bytes, 64u);
  EXPECT_EQ(rows[1].frees, 5u);
  EXPECT_EQ(rows[1].freed_bytes, 320u);
  EXPECT_EQ(rows[2].object_bytes, 128u);
  EXPECT_EQ(rows[2].events, 7u);
  EXPECT_EQ(rows[2].bytes, 896u);
  EXPECT_EQ(rows[3].name, "other");  // both caches "late": 1 object of 8 bytes, and 2 of 16 bytes
  EXPECT_EQ(rows[3].events, 3u);
  EXPECT_EQ(rows[3].bytes, 40u);
  EXPECT_EQ(rows[3].freed_bytes, 24u);
}

TEST(ExportedSeries, NoTwoMetricsHaveTheSameLabels) {
  ExportedSeries series(10);
  series.add({cache_row("twin", 64, 5, 1), cache_row("twin", 128, 7, 2)});
  ExportedMetrics metrics;
  metrics.cache_objects = series.rows();
  std::set<std::string> seen;
  for (const prometheus::MetricFamily& family : metric_families(metrics)) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      std::string id = family.name;
      for (const auto& label : metric.label) id += "," + label.name + "=" + label.value;
      EXPECT_TRUE(seen.insert(id).second) << id;
    }
  }
  EXPECT_TRUE(seen.contains("kmemtrace_cache_objects_freed_bytes_total,cache=twin,object_bytes=128"));
  metrics.cache_objects.reset();  // a kernel before Linux 6.13
  for (const prometheus::MetricFamily& family : metric_families(metrics))
    EXPECT_FALSE(family.name.starts_with("kmemtrace_cache_objects_")) << family.name;
}

}  // namespace
}  // namespace kmt
