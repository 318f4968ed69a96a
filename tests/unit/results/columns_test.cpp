// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/columns.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/sample_report.hpp"

namespace kmt {
namespace {

std::vector<std::uint64_t> order(std::string_view key, const std::vector<GroupRow>& rows) {
  std::vector<std::uint64_t> addresses;
  for (const GroupRow* row : sorted_rows(rows, *find_group_column(key))) addresses.push_back(test::address_of(*row));
  return addresses;
}

using Addresses = std::vector<std::uint64_t>;

TEST(Columns, HaveUniqueKeysHeadersAndDescriptions) {
  std::set<std::string_view> keys;
  std::set<std::string_view> headers;
  for (const auto& column : group_columns()) {
    EXPECT_TRUE(keys.insert(column.key).second) << column.key;
    EXPECT_TRUE(headers.insert(column.header).second) << column.header;
    EXPECT_FALSE(column.meaning.empty()) << column.key;
    EXPECT_EQ(find_group_column(column.key), &column);
  }
  EXPECT_EQ(find_group_column("no such"), nullptr);
  EXPECT_EQ(find_group_column(""), nullptr);
}

TEST(Columns, SortNumbersDescendingAndNamesAscending) {
  const std::vector<GroupRow> rows = test::sample_report().groups.front().rows;
  EXPECT_EQ(order("allocated", rows), (Addresses{0x2000, 0x1000, 0x3000, 0x4000}));
  EXPECT_EQ(order("hits", rows), (Addresses{0x1000, 0x2000, 0x3000, 0x4000}));
  EXPECT_EQ(order("pingpong", rows).front(), 0x1000u);
  EXPECT_EQ(order("failed", rows).front(), 0x4000u);
  EXPECT_EQ(order("live-bytes", rows), (Addresses{0x1000, 0x3000, 0x2000, 0x4000}));
  EXPECT_EQ(order("name", rows), (Addresses{0x4000, 0x1000, 0x2000, 0x3000}));
  EXPECT_EQ(order("address", rows), (Addresses{0x1000, 0x2000, 0x3000, 0x4000}));
}

TEST(Columns, SortRowsWithoutAValueLast) {
  const std::vector<GroupRow> rows = test::sample_report().groups.front().rows;
  EXPECT_EQ(order("waste", rows), (Addresses{0x3000, 0x1000, 0x2000, 0x4000}));
  EXPECT_EQ(order("size", rows), (Addresses{0x2000, 0x3000, 0x1000, 0x4000}));
}

TEST(Columns, BreakTiesByBytesThenName) {
  const std::vector<GroupRow> rows = {test::site(0x30, "c", 1, 8, 8), test::site(0x20, "b", 1, 8, 8),
                                      test::site(0x10, "d", 1, 8, 16)};
  EXPECT_EQ(order("hits", rows), (Addresses{0x10, 0x20, 0x30}));
}

TEST(Columns, ComputeWaste) {
  GroupRow row = test::site(0, "", 4, 300, 400);
  EXPECT_EQ(std::get<double>(find_group_column("waste")->get(row)), 25.0);
  EXPECT_EQ(std::get<std::uint64_t>(find_group_column("wasted")->get(row)), 100u);
  EXPECT_EQ(std::get<std::uint64_t>(find_group_column("size")->get(row)), 100u);
  row.bytes_requested = 500;  // more than allocated: the trace is wrong, but waste must not be negative
  EXPECT_EQ(std::get<double>(find_group_column("waste")->get(row)), 0.0);
  EXPECT_EQ(std::get<std::uint64_t>(find_group_column("wasted")->get(row)), 0u);
}

TEST(Columns, AddUpRows) {
  const ReportResult result = test::sample_report();
  std::vector<const GroupRow*> rows;
  for (const GroupRow& row : result.groups.front().rows) rows.push_back(&row);
  const GroupRow sum = sum_of(rows, "all");
  EXPECT_EQ(sum.name, "all");
  EXPECT_EQ(sum.allocations, result.slab.allocations);
  EXPECT_EQ(sum.matched_frees, result.slab.matched_frees);
  EXPECT_EQ(sum.failed_allocations, result.slab.failed_allocations);
  EXPECT_EQ(sum.bytes_requested, result.slab.bytes_requested);
  EXPECT_EQ(sum.bytes_allocated, result.slab.bytes_allocated);
  EXPECT_EQ(sum.live_allocations, result.slab.live_allocations);
  EXPECT_EQ(sum.live_bytes, result.slab.live_bytes);
  EXPECT_EQ(sum.cross_cpu_frees, result.slab.cross_cpu_frees);
  const PageOrderRow pages = sum_of(result.page_orders);
  EXPECT_EQ(pages.allocations, 22u);
  EXPECT_EQ(pages.failed_allocations, 1u);
  EXPECT_EQ(pages.frees, 17u);
  EXPECT_EQ(pages.bytes_allocated, 147456u);
  EXPECT_EQ(pages.live_bytes, 20480u);
}

}  // namespace
}  // namespace kmt
