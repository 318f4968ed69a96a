// SPDX-License-Identifier: GPL-2.0-or-later
// Tests how an investigation uses successive readings of the kernel's counters.
#include <algorithm>

#include <fmt/format.h>
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

// The maps of kmemtrace's own BPF programs appear during the investigation, and must not count as growth. Other memory
// grows by 100 kB per second.
TEST(InvestigateStates, OwnMapsAreNoGrowth) {
  std::vector<StateSample> states(4);
  const std::size_t own_kb[] = {0, 900, 900, 0};
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].ticks = i * 1'000'000'000;
    const std::size_t used_kb = 5000 + 100 * i + own_kb[i];
    states[i].texts = {{"meminfo", "VmallocUsed:   " + std::to_string(used_kb) + " kB\n"}};
    if (own_kb[i] != 0) states[i].texts.emplace_back("recorder", "bpf_maps " + std::to_string(own_kb[i] << 10) + "\n");
  }
  EXPECT_EQ(vmalloc_used(states), (std::vector<double>{5000 << 10, 5100 << 10, 5200 << 10, 5300 << 10}));
  states[1].texts[1].second = "bpf_maps 99999999999\n";  // invalid: larger than the total
  EXPECT_EQ(vmalloc_used(states)[1], 0);
}

// Since Linux 7.0, 16 sheaves of 60 objects each may be full on a machine with 2 CPUs.
TEST(InvestigateStates, ObjectsInSheavesHaveAMaximum) {
  std::vector<StateSample> states(2);
  for (StateSample& state : states)
    state.texts = {{"zoneinfo", "Node 0, zone   Normal\n  pages free 1\n    cpu: 0\n    cpu: 1\n"},
                   {"slabinfo",
                    "slabinfo - version: 2.1\n# name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : "
                    "tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>\n"
                    "kmalloc-64 64 64 64 64 1 : tunables 0 0 0 : slabdata 1 1 0\n"}};
  states[1].ticks = 1'000'000'000;
  const auto bound = [&states](const char* release) -> double {
    states[0].texts.emplace_back("uname", fmt::format("Linux - {} x86_64\n", release));
    const auto all = states_over_time(states, 4096);
    states[0].texts.pop_back();
    const auto found = std::ranges::find(all, MemorySource::slab_sheaves, &MemorySeries::source);
    return found == all.end() ? 0 : found->points.back().value;
  };
  EXPECT_EQ(bound("7.2.12"), 16 * 60 * 64);
  EXPECT_EQ(bound("6.12.1"), 0);
}

// Reports of OOM kills have no slabinfo, but may list the unreclaimable caches.
TEST(InvestigateStates, CachesInReportsOfOomKillsAreSeries) {
  std::vector<StateSample> states(3);
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i].ticks = i * 1'000'000'000;
    states[i].texts = {{"oom",
                        "Mem-Info:\nactive_anon:1 inactive_anon:2 isolated_anon:0\nUnreclaimable slab info:\n"
                        "Name   Used   Total\nleaky  " +
                            std::to_string(100 * (i + 1)) + "KB  500KB\n"}};
  }
  const auto all = states_over_time(states, 4096);
  const auto leaky = std::ranges::find(all, "leaky", &MemorySeries::name);
  ASSERT_NE(leaky, all.end());
  EXPECT_EQ(leaky->source, MemorySource::slabinfo_objects);
  ASSERT_EQ(leaky->points.size(), 3u);
  EXPECT_EQ(leaky->points[2].value, 300 << 10);
}

}  // namespace
}  // namespace kmt
