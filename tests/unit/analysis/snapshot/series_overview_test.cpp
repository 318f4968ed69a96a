// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the amounts on the page of a series: which snapshots count.
#include "analysis/snapshot/series_overview.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace kmt {
namespace {

SnapshotResult sheet_at(std::uint64_t time, std::vector<BalanceLine> lines) {
  SnapshotResult snapshot;
  snapshot.memory.unix_ns = time;
  snapshot.sheet = std::move(lines);
  return snapshot;
}

const SeriesBand* band_of(const SeriesOverview& overview, std::string_view id) {
  const auto found = std::ranges::find(overview.bands, id, &SeriesBand::id);
  return found == overview.bands.end() ? nullptr : &*found;
}

TEST(SeriesOverview, DoesNotMixAmountsFromDifferentSources) {
  SeriesOverviewAnalysis analysis(0, 3, 4);
  const BalanceLine user{.id = "user", .label = "user memory", .bytes = 7, .source = "meminfo"};
  for (std::uint64_t time = 0; time < 4; ++time) {
    const bool is_whole = time % 2 == 0;
    BalanceLine vmalloc{.id = "vmalloc", .label = "vmalloc", .bytes = 40, .source = "vmallocinfo"};
    if (!is_whole) vmalloc = {.id = "vmalloc", .label = "vmalloc", .known = false, .source = "vmallocinfo is missing"};
    const BalanceLine rest{.id = "unaccounted", .label = "rest", .bytes = is_whole ? 5 : 45, .source = "MemTotal"};
    analysis.add(sheet_at(time, {user, vmalloc, rest}), is_whole);
  }
  const SeriesOverview overview = analysis.finish();
  EXPECT_EQ(overview.snapshots, 4U);
  ASSERT_EQ(overview.bands.size(), 3U);
  EXPECT_EQ(band_of(overview, "user")->most, (std::vector<double>{7, 7, 7, 7}));
  for (const auto& [id, bytes] : {std::pair("vmalloc", 40.0), std::pair("unaccounted", 5.0)}) {
    const SeriesBand& band = *band_of(overview, id);
    for (std::size_t part = 0; part < 4; ++part) {
      EXPECT_EQ(std::isnan(band.least[part]), part % 2 == 1) << id << part;
      if (std::isnan(band.least[part])) continue;
      EXPECT_EQ(band.least[part], bytes) << id << part;
      EXPECT_EQ(band.most[part], bytes) << id << part;
    }
  }
}

TEST(SeriesOverview, HasNoBandOfAnUnknownLine) {
  SeriesOverviewAnalysis analysis(0, 1, 1);
  analysis.add(sheet_at(0, {{.id = "percpu", .label = "percpu", .known = false, .source = "missing"}}), true);
  EXPECT_TRUE(analysis.finish().bands.empty());
}

}  // namespace
}  // namespace kmt
