// SPDX-License-Identifier: GPL-2.0-or-later
// The use of successive states in an investigation.
#include <algorithm>

#include <gtest/gtest.h>

#include "cli/investigate/states.hpp"

namespace kmt {
namespace {

std::vector<double> vmalloc_used(const std::vector<StateSample>& states) {
  std::vector<double> values;
  for (const MemorySeries& series : states_over_time(states, 4096))
    if (series.name == "VmallocUsed")
      for (const MemorySeriesPoint& point : series.points) values.push_back(point.value);
  return values;
}

// The maps of the own programs come while it is watched; somebody else's 100 kB of each second stay.
TEST(InvestigateStates, OwnMapsAreNobodysGrowth) {
  std::vector<StateSample> states(4);
  const std::size_t own_kb[] = {0, 900, 900, 0};
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].ticks = i * 1'000'000'000;
    const std::size_t used_kb = 5000 + 100 * i + own_kb[i];
    states[i].texts = {{"meminfo", "VmallocUsed:   " + std::to_string(used_kb) + " kB\n"}};
    if (own_kb[i] != 0) states[i].texts.emplace_back("recorder", "bpf_maps " + std::to_string(own_kb[i] << 10) + "\n");
  }
  EXPECT_EQ(vmalloc_used(states), (std::vector<double>{5000 << 10, 5100 << 10, 5200 << 10, 5300 << 10}));
  states[1].texts[1].second = "bpf_maps 99999999999\n";  // no more than there is
  EXPECT_EQ(vmalloc_used(states)[1], 0);
}

}  // namespace
}  // namespace kmt
