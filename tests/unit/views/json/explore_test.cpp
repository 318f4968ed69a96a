// SPDX-License-Identifier: GPL-2.0-or-later
// Tests the sums over time in the HTML report. The data must stay small and complete: small groups are merged into one
// group.
#include "views/json/explore.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kmt {
namespace {

GroupRow row_of(std::uint64_t number, std::vector<Traffic> traffic) {
  GroupRow row;
  row.keys = {CodeAddress{0xffffffff81000000 + number, fmt::format("site{}+0x10", number), {}, false},
              std::string("module"),
              CodeOwner{"fs/ext4", false},
              fmt::format("cache{}", number % 10),
              std::string("task"),
              std::monostate{}};
  TrafficCounts sum;
  for (const Traffic& entry : traffic) sum += entry.counts;
  row.allocations = sum.allocations;
  row.bytes_requested = sum.requested;
  row.bytes_allocated = sum.allocated;
  row.live_bytes = sum.allocated - sum.freed - sum.replaced;
  row.peak_bytes = sum.allocated;
  row.traffic = std::make_shared<const GroupTraffic>(GroupTraffic{std::move(traffic), {}});
  return row;
}

ReportResult result_of(std::vector<GroupRow> rows, std::size_t buckets) {
  ReportResult result;
  result.groups = {{Allocator::slab, std::move(rows)}};
  result.traffic.emplace();
  result.traffic->axis = {100, 100 + 64 * buckets, 64, buckets};
  result.traffic->sites = {"unknown"};
  return result;
}

Traffic traffic_in(std::uint32_t bucket, std::uint64_t allocations, std::uint64_t bytes, std::uint64_t freed = 0) {
  return {0, bucket, {allocations, bytes - bytes / 4, bytes, freed > 0 ? 1u : 0u, freed, 0, 0}};
}

std::uint64_t sum_of(const nlohmann::json& column) {
  std::uint64_t sum = 0;
  for (const auto& value : column) sum += value.get<std::uint64_t>();
  return sum;
}

TEST(JsonExplore, ColumnsHaveTheCountsOfGroups) {
  std::vector<GroupRow> rows = {row_of(1, {traffic_in(2, 3, 400), traffic_in(7, 1, 100, 200)}),
                                row_of(2, {traffic_in(5, 1, 50)})};
  rows[0].traffic = std::make_shared<const GroupTraffic>(GroupTraffic{
      {traffic_in(2, 3, 400), {0, 7, {~std::uint64_t{0}, 0, 100, 1, 200, 1, 8}}},  // -1 allocation: a correction
      {{2, 6, 200}, {2, 7, 8}}});
  const auto json = nlohmann::json::parse(json_explore(result_of(std::move(rows), 10), false));
  EXPECT_EQ(json["changes"]["group"], (std::vector<int>{0, 0, 1}));
  // Differences to the previous bucket of the group: 2 + 5 is 7.
  EXPECT_EQ(json["changes"]["bucket"], (std::vector<int>{2, 5, 5}));
  EXPECT_EQ(json["changes"]["allocations"], (std::vector<int>{3, -1, 1}));
  EXPECT_EQ(json["changes"]["allocated"], (std::vector<int>{400, 100, 50}));
  EXPECT_EQ(json["changes"]["freed"], (std::vector<int>{0, 208, 0}));
  EXPECT_EQ(json["changes"]["replaced"], (std::vector<int>{0, 8, 0}));
  EXPECT_EQ(json["lives"]["group"], (std::vector<int>{0, 0}));
  EXPECT_EQ(json["lives"]["began"], (std::vector<int>{2, 2}));
  EXPECT_EQ(json["lives"]["ended"], (std::vector<int>{6, 7}));
  EXPECT_EQ(json["lives"]["bytes"], (std::vector<int>{200, 8}));
  EXPECT_EQ(json["start_ns"], 100);
  EXPECT_EQ(json["buckets"], 10);
  const auto text = [&json](const nlohmann::json& index) { return json["strings"][index.get<std::size_t>()]; };
  EXPECT_EQ(text(json["groups"]["site"][0]), "site1+0x10");
  EXPECT_EQ(text(json["groups"]["module"][0]), "module");
  EXPECT_EQ(text(json["groups"]["directory"][0]), "fs/ext4");
  EXPECT_EQ(text(json["groups"]["subsystem"][0]), "file systems");
  EXPECT_EQ(text(json["groups"]["cache"][1]), "cache2");
  EXPECT_EQ(text(json["groups"]["task"][0]), "task");
  EXPECT_EQ(text(json["frames"][json["stacks"][0][0].get<std::size_t>()]), "site1");
  EXPECT_EQ(json["left_out"]["groups"], 0);
}

TEST(JsonExplore, StacksAreOutermostFirstWithoutTracingFrames) {
  GroupRow row = row_of(1, {traffic_in(0, 1, 64)});
  row.keys.push_back(std::vector<CodeAddress>{{1, "trace_event_raw_event_kmalloc+0x1", {}, true},
                                              {2, "inner+0x2", {}, false},
                                              {3, "outer.isra.0+0x3", {}, false}});
  const auto json = nlohmann::json::parse(json_explore(result_of({std::move(row)}, 1), true));
  std::vector<std::string> functions;
  for (const auto& frame : json["stacks"][0])
    functions.push_back(json["strings"][json["frames"][frame.get<std::size_t>()].get<std::size_t>()]);
  EXPECT_EQ(functions, (std::vector<std::string>{"outer", "inner"}));
}

TEST(JsonExplore, SmallGroupsAreMerged) {
  constexpr std::uint64_t kGroups = 30'000;
  std::vector<GroupRow> rows;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < kGroups; ++i) {
    GroupTraffic traffic{{traffic_in(static_cast<std::uint32_t>(i % 8), 1, 100 + i)}, {{0, 1, 2}}};
    rows.push_back(row_of(i, traffic.changes));
    rows.back().traffic = std::make_shared<const GroupTraffic>(std::move(traffic));
    bytes += 100 + i;
  }
  rows.push_back(row_of(kGroups, {traffic_in(3, 1'000'000, 1)}));  // this group has many allocations, but few bytes
  const auto json = nlohmann::json::parse(json_explore(result_of(std::move(rows), 8), false));
  EXPECT_EQ(json["groups"]["site"].size(), 20'001u);
  EXPECT_EQ(json["left_out"]["groups"], kGroups + 1 - 20'000);
  EXPECT_EQ(sum_of(json["changes"]["allocated"]), bytes + 1);
  EXPECT_EQ(sum_of(json["lives"]["bytes"]), 2 * kGroups);
  EXPECT_EQ(json["lives"]["bytes"].size(), 19'999 + 1u) << "the merged groups have one entry";
  EXPECT_EQ(sum_of(json["lives"]["group"]), 20'000u);
  EXPECT_EQ(sum_of(json["changes"]["allocations"]), kGroups + 1'000'000);
  const std::vector<std::string> strings = json["strings"];
  EXPECT_NE(std::ranges::find(strings, fmt::format("site{}+0x10", kGroups)), strings.end());
  EXPECT_NE(std::ranges::find(strings, fmt::format("site{}+0x10", kGroups - 1)), strings.end());
  EXPECT_EQ(std::ranges::find(strings, "site5+0x10"), strings.end());
  EXPECT_EQ(strings[json["groups"]["site"].back().get<std::size_t>()], "(others)");
}

TEST(JsonExplore, EntriesAreBounded) {
  std::vector<GroupRow> rows;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    std::vector<Traffic> traffic;
    for (std::uint32_t bucket = 0; bucket < 512; ++bucket) traffic.push_back(traffic_in(bucket, 1, 64, 64));
    rows.push_back(row_of(i, std::move(traffic)));
  }
  const auto json = nlohmann::json::parse(json_explore(result_of(std::move(rows), 512), false));
  EXPECT_LE(json["changes"]["group"].size(), 300'512u);
  EXPECT_EQ(sum_of(json["changes"]["allocations"]), 2000u * 512);
}

TEST(JsonExplore, SizesAreBounded) {
  constexpr std::uint64_t kSizes = 250'000;
  ReportResult result = result_of({row_of(1, {traffic_in(0, 1, 64)})}, 4);
  result.traffic->sites.emplace_back("site");
  std::uint64_t requested = 0, allocated = 0;
  for (std::uint64_t i = 1; i <= kSizes; ++i) {
    result.traffic->sizes.push_back({1, i, 2 * i, static_cast<std::uint32_t>(i % 4), 2});
    requested += 2 * i;
    allocated += 4 * i;
  }
  result.traffic->sizes.push_back({0, 1, 1, 3, 1'000'000});  // this size has many allocations, but few bytes
  const std::string text = json_explore(result, false);
  EXPECT_LT(text.size(), 4u << 20);
  const auto json = nlohmann::json::parse(text);
  const auto& sizes = json["sizes"];
  const auto& others = json["sizes_left_out"];
  ASSERT_EQ(sizes["site"].size(), 100'000u);
  EXPECT_EQ(others["bucket"], (std::vector<int>{0, 1, 2, 3}));
  std::uint64_t smallest = kSizes;
  std::uint64_t of_requested = sum_of(others["requested"]), of_allocated = sum_of(others["allocated"]);
  for (std::size_t i = 0; i < sizes["site"].size(); ++i) {
    const auto count = sizes["allocations"][i].get<std::uint64_t>();
    of_requested += count * sizes["requested"][i].get<std::uint64_t>();
    of_allocated += count * sizes["allocated"][i].get<std::uint64_t>();
    if (count == 2) smallest = std::min(smallest, sizes["requested"][i].get<std::uint64_t>());
  }
  EXPECT_EQ(of_requested, requested + 1'000'000);
  EXPECT_EQ(of_allocated, allocated + 1'000'000);
  EXPECT_EQ(sum_of(sizes["allocations"]) + sum_of(others["allocations"]), 2 * kSizes + 1'000'000);
  EXPECT_EQ(smallest, kSizes - 100'000 + 2);  // the largest sizes are kept, the others merged
}

TEST(JsonExplore, LifetimesAreBounded) {
  constexpr std::uint32_t kSites = 40'000;
  ReportResult result = result_of({row_of(1, {traffic_in(0, 1, 64)})}, 4);
  for (std::uint32_t site = 1; site <= kSites; ++site) {
    result.traffic->sites.push_back(fmt::format("site{}", site));
    for (unsigned octave = 10; octave < 14; ++octave)
      result.traffic->lifetimes.push_back({site, Allocator::slab, octave, site % 4, site, 64});
  }
  const auto json = nlohmann::json::parse(json_explore(result, false));
  const auto& lifetimes = json["lifetimes"];
  // All call sites beyond the limit are merged into one, which has lifetimes in four octaves in each of four buckets.
  EXPECT_EQ(lifetimes["site"].size(), 100'000u + 4 * 4);
  EXPECT_EQ(sum_of(lifetimes["frees"]), std::uint64_t{4} * kSites * (kSites + 1) / 2);
  EXPECT_EQ(sum_of(lifetimes["bytes"]), std::uint64_t{4} * kSites * 64);
  EXPECT_EQ(json["strings"][lifetimes["site"].back().get<std::size_t>()], "(others)");
}

TEST(JsonExplore, CpusAreBounded) {
  constexpr unsigned kCpus = 1000;
  ReportResult result = result_of({row_of(1, {traffic_in(0, 1, 64)})}, 1);
  std::uint64_t own = 0, away = 0;
  for (unsigned from = 0; from < kCpus; ++from)
    for (unsigned to = 0; to < kCpus; ++to) {
      const std::uint64_t frees = from < 256 && to < 256 ? 100 : 1;
      result.traffic->cpus.push_back({Allocator::slab, from, to, 0, frees, 64 * frees});
      (from == to ? own : away) += frees;
    }
  const std::string text = json_explore(result, false);
  EXPECT_LT(text.size(), 2u << 20);
  const auto json = nlohmann::json::parse(text);
  const auto& cpus = json["cpus"];
  EXPECT_EQ(cpus["from"].size(), 256u * 256 + 2 * 256 + 2);
  EXPECT_EQ(sum_of(cpus["frees"]), own + away);
  EXPECT_EQ(sum_of(cpus["bytes"]), 64 * (own + away));
  std::uint64_t of_same = 0;
  for (std::size_t i = 0; i < cpus["from"].size(); ++i)
    if (cpus["from"][i] == cpus["to"][i]) of_same += cpus["frees"][i].get<std::uint64_t>();
  EXPECT_EQ(of_same, own);
}

TEST(JsonExplore, HostileTextIsMadePrintable) {
  GroupRow row = row_of(1, {traffic_in(0, 1, ~std::uint64_t{0})});
  row.keys[1] = std::string("</script>\x1b[31m\xff");
  const std::string text = json_explore(result_of({std::move(row)}, 1), false);
  EXPECT_NE(text.find("</script>\\\\x1b[31m\\\\xff"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text)["changes"]["allocated"][0], -1);
}

}  // namespace
}  // namespace kmt
