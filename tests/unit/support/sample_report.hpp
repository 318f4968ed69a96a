// SPDX-License-Identifier: GPL-2.0-or-later
// Builds a report like that of an analysis. It is so small that its sums can be checked by hand.
#pragma once

#include <string>

#include "results/report/report.hpp"

namespace kmt::test {

inline GroupRow site(std::uint64_t address, std::string symbol, std::uint64_t allocations, std::uint64_t requested,
                     std::uint64_t allocated) {
  GroupRow row;
  row.name = symbol;
  row.keys = {CodeAddress{address, std::move(symbol)}};
  row.allocations = allocations;
  row.bytes_requested = requested;
  row.bytes_allocated = allocated;
  return row;
}

inline std::vector<GroupRow>& call_sites(ReportResult& result) { return result.groups.front().rows; }
inline std::uint64_t address_of(const GroupRow& row) { return std::get<CodeAddress>(row.keys.front()).address; }

inline void add_percpu(ReportResult& result, std::vector<GroupRow> rows) {
  for (GroupRow& row : rows) row.allocator = Allocator::percpu;
  result.groups.push_back({Allocator::percpu, std::move(rows)});
}

// Computes the totals of slab and pages from the rows.
inline void add_up(ReportResult& result) {
  result.slab = {};
  for (const GroupRow& row : call_sites(result)) {
    result.slab += row;
  }
  result.slab.frees = result.slab.matched_frees;
  result.slab.bytes_freed = result.slab.bytes_allocated - result.slab.live_bytes;
  result.pages = {};
  for (const PageOrderRow& row : result.page_orders) {
    result.pages.allocations += row.allocations;
    result.pages.failed_allocations += row.failed_allocations;
    result.pages.frees += row.frees;
    result.pages.bytes_allocated += row.bytes_allocated;
    result.pages.live_bytes += row.live_bytes;
  }
}

inline ReportResult sample_report() {
  ReportResult result;
  TraceSummary& trace = result.trace;
  trace.path = "sample.dat";
  trace.format = "trace.dat version 7";
  trace.kernel = "6.1.0-test";
  trace.arch = "s390x";
  trace.byte_order = ByteOrder::big;
  trace.word_bits = 64;
  trace.page_size = 4096;
  trace.cpus = 2;
  trace.clock = "mono";
  trace.first_ns = 12'000'000'345;
  trace.duration_ns = 1'500'000'000;
  trace.recorded_ns = 1'500'000'000;
  trace.events = 1234;
  trace.lost_per_cpu = {0, 0};
  result.events = {{"kmalloc", 700}, {"kfree", 534}};
  result.by = {GroupKey::call_site};
  result.groups = {{Allocator::slab, {}}};
  call_sites(result) = {site(0x1000, "first+0x10", 100, 6000, 6400),
                        site(0x2000, "second_function_with_a_rather_long_name+0x1f4 [a_module]", 10, 40960, 40960),
                        site(0x3000, "third+0x1", 1, 100, 128), site(0x4000, "0x4000", 0, 0, 0)};
  call_sites(result)[0].matched_frees = 40;
  call_sites(result)[0].live_allocations = 60;
  call_sites(result)[0].live_bytes = 3840;
  call_sites(result)[0].cross_cpu_frees = 7;
  call_sites(result)[1].matched_frees = 10;
  call_sites(result)[2].live_allocations = 1;
  call_sites(result)[2].live_bytes = 128;
  call_sites(result)[3].failed_allocations = 3;
  result.page_orders = {{0, 20, 1, 15, 81920, 20480}, {3, 2, 0, 2, 65536, 0}};
  result.anomalies = {{"allocated_before_trace", 5}};
  add_up(result);
  return result;
}

}  // namespace kmt::test
