// SPDX-License-Identifier: GPL-2.0-or-later
// Results from traces of many machines: sums of allocation groups over hosts and traces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "results/columns.hpp"
#include "results/report/diff.hpp"

namespace kmt {

struct FleetKeyInfo {
  std::string_view name;    // name for --by
  std::string_view header;  // of tables
  std::string_view sql;     // SQL expression for the value (a string) in a row of the table of sums
  std::string_view meaning;
};
std::span<const FleetKeyInfo> fleet_keys();

// Summary of the selected traces.
struct FleetSummary {
  std::string selection;  // the selection as text; empty: all traces
  std::uint64_t traces = 0;
  std::uint64_t hosts = 0;
  std::vector<std::string> kernels;
  std::uint64_t recorded_ns = 0;  // sum over all traces, within the selected time
  std::uint64_t events = 0;       // events of whole traces, and likewise lost_events
  std::uint64_t lost_events = 0;
  std::uint64_t may_lack_frees = 0;  // traces whose live memory at the end may have been freed
  bool whole_events = true;          // false: only a part of each trace's time is selected
  std::uint32_t first_began = 0;     // seconds since 1970
  std::uint32_t last_began = 0;
};

// Sums of a group. In `sums`, the peaks, first and last times, cross-node frees and lifetimes stay empty.
struct FleetRow {
  std::vector<std::string> keys;  // one value for each key, none for a sum; an empty string: unknown or none
  std::string name;
  std::optional<std::uint64_t> hosts;  // empty for a sum, because its groups may share hosts
  std::optional<std::uint64_t> traces;
  GroupRow sums;
  std::uint64_t lifetime_ns = 0;  // sum of the lifetimes of all matched frees
};
// Returns one row with the sums of all rows.
FleetRow sum_of(std::span<const FleetRow* const> rows, std::string name);

struct FleetReport {
  FleetSummary of;
  std::vector<const FleetKeyInfo*> by;
  struct Table {
    Allocator allocator = Allocator::slab;
    std::vector<FleetRow> rows;  // unsorted
  };
  std::vector<Table> tables;
};

// Memory of a group that is live at the end of traces.
struct FleetLeakRow {
  std::vector<std::string> keys;
  std::string name;
  std::uint64_t hosts = 0;
  std::uint64_t growing_hosts = 0;  // hosts with at least one trace in which the group grew
  std::uint64_t traces = 0;
  std::uint64_t growing_traces = 0;
  std::int64_t live_allocations = 0;
  std::int64_t live_bytes = 0;
  std::optional<std::int64_t> reclaimable_bytes;  // reclaimable part of live_bytes; empty: neither slab nor pages
  std::int64_t unseen_bytes = 0;  // part of live_bytes that may have been freed through an untraced path
  // Growth in bytes per second: the slope of a least-squares line, as a mean over traces of at least a second, weighted
  // by their lengths. Empty if there are no such traces.
  std::optional<double> growth;
  std::optional<double> sure_growth;  // growth without reclaimable memory and without memory that may have been freed
                                      // through an untraced path
  std::optional<double> deviation;    // standard deviation of `growth` across traces; empty for one trace
};
// Orders rows whose values in the sort column are equal.
struct FleetOrder {
  bool operator()(const FleetRow& a, const FleetRow& b) const { return a.name < b.name; }
  bool operator()(const FleetLeakRow& a, const FleetLeakRow& b) const {
    return std::tie(b.growth, b.live_bytes, a.name) < std::tie(a.growth, a.live_bytes, b.name);
  }
};

struct FleetLeaks {
  FleetSummary of;
  std::vector<const FleetKeyInfo*> by;
  struct Table {
    Allocator allocator = Allocator::slab;
    std::vector<FleetLeakRow> rows;
  };
  std::vector<Table> tables;
};

struct FleetDiff {
  FleetSummary a;
  FleetSummary b;
  DiffBasis basis;
  std::vector<const FleetKeyInfo*> by;
  std::vector<DiffTable> tables;  // keys of rows are strings
};

struct FleetTraceRow {
  std::string trace, host, kernel, arch, level, path, format;
  std::uint32_t began = 0;  // seconds since 1970
  std::uint64_t recorded_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
};
struct FleetTraces {
  FleetSummary of;
  std::vector<FleetTraceRow> rows;  // newest trace first
};

std::span<const Column<FleetRow>> fleet_columns();
std::span<const Column<FleetLeakRow>> fleet_leak_columns();
// Returns the columns of diff_columns() that the sums of a fleet provide.
std::vector<const Column<GroupRow>*> fleet_diff_columns();
std::string utc_text(std::uint32_t seconds);  // "2026-11-21T12:13:00Z"

}  // namespace kmt
