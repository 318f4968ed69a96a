// SPDX-License-Identifier: GPL-2.0-or-later
// A report as an analysis would return it, small enough to add up by hand.
#pragma once

#include <string>

#include "results/report.hpp"

namespace kmt::test {

inline CallSiteRow site(std::uint64_t address, std::string symbol, std::uint64_t allocations, std::uint64_t requested,
                        std::uint64_t allocated) {
  CallSiteRow row;
  row.address = address;
  row.symbol = std::move(symbol);
  row.allocations = allocations;
  row.bytes_requested = requested;
  row.bytes_allocated = allocated;
  return row;
}

// Sums of the slab totals and of the page totals from the rows.
inline void add_up(ReportResult& result) {
  result.slab = {};
  for (const CallSiteRow& row : result.call_sites) {
    result.slab.allocations += row.allocations;
    result.slab.failed_allocations += row.failed_allocations;
    result.slab.bytes_requested += row.bytes_requested;
    result.slab.bytes_allocated += row.bytes_allocated;
    result.slab.matched_frees += row.frees;
    result.slab.live_allocations += row.live_allocations;
    result.slab.live_bytes += row.live_bytes;
    result.slab.cross_cpu_frees += row.cross_cpu_frees;
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
  trace.events = 1234;
  trace.lost_per_cpu = {0, 0};
  result.events = {{"kmalloc", 700}, {"kfree", 534}};
  result.call_sites = {site(0x1000, "first+0x10", 100, 6000, 6400),
                       site(0x2000, "second_function_with_a_rather_long_name+0x1f4 [a_module]", 10, 40960, 40960),
                       site(0x3000, "third+0x1", 1, 100, 128), site(0x4000, "0x4000", 0, 0, 0)};
  result.call_sites[0].frees = 40;
  result.call_sites[0].live_allocations = 60;
  result.call_sites[0].live_bytes = 3840;
  result.call_sites[0].cross_cpu_frees = 7;
  result.call_sites[1].frees = 10;
  result.call_sites[2].live_allocations = 1;
  result.call_sites[2].live_bytes = 128;
  result.call_sites[3].failed_allocations = 3;
  result.page_orders = {{0, 20, 1, 15, 81920, 20480}, {3, 2, 0, 2, 65536, 0}};
  result.anomalies = {{"allocated_before_trace", 5}};
  add_up(result);
  return result;
}

}  // namespace kmt::test
