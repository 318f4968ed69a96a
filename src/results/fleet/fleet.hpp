// SPDX-License-Identifier: GPL-2.0-or-later
// Results from traces of many machines: sums of allocations by group, over hosts and traces.
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
  std::string_view name;    // name of the key in the option --by
  std::string_view header;  // header of the key's column in tables
  std::string_view sql;     // SQL expression that computes the value (a string) from a row of the table of sums
  std::string_view meaning;
};
std::span<const FleetKeyInfo> fleet_keys();

// Summary of the traces that the options select.
struct FleetSummary {
  std::string selection;  // text of the filters that select traces; empty: all traces
  std::uint64_t traces = 0;
  std::uint64_t hosts = 0;
  std::vector<std::string> kernels;
  std::uint64_t recorded_ns = 0;  // recorded time within the selected time, summed over all traces
  // Number of events in the selected traces. A trace counts as a whole, even if only a part of its time is selected.
  // This also applies to lost_events.
  std::uint64_t events = 0;
  std::uint64_t lost_events = 0;
  // Number of traces whose live memory at the end may have been freed without an event.
  std::uint64_t may_lack_frees = 0;
  bool whole_events = true;       // false: only a part of the time of each trace is selected
  std::uint32_t first_began = 0;  // seconds since 1970
  std::uint32_t last_began = 0;
};

// The sums of one group. A fleet has no peaks, first and last times, cross-node frees or lifetimes, so these members of
// `sums` are empty.
struct FleetRow {
  // One value for each key. The values are empty in a sum over groups. An empty string means that the value is unknown
  // or does not exist.
  std::vector<std::string> keys;
  std::string name;
  std::optional<std::uint64_t> hosts;  // number of hosts; empty for a sum over groups, because groups may share hosts
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

// Memory of one group that is live at the ends of the traces.
struct FleetLeakRow {
  std::vector<std::string> keys;
  std::string name;
  std::uint64_t hosts = 0;
  std::uint64_t growing_hosts = 0;  // number of hosts with at least one trace in which the group grew
  std::uint64_t traces = 0;
  std::uint64_t growing_traces = 0;
  std::int64_t live_allocations = 0;
  std::int64_t live_bytes = 0;
  std::optional<std::int64_t> reclaimable_bytes;  // reclaimable part of live_bytes; empty: unknown for this allocator
  std::int64_t unseen_bytes = 0;  // part of live_bytes that may have been freed through an untraced path
  // Growth in bytes per second: the mean of the slopes of all traces of at least one second, weighted by their lengths.
  // The slope of a trace is that of its least-squares line. Empty if no trace is long enough.
  std::optional<double> growth;
  // Growth in bytes per second that excludes reclaimable memory and memory that may have been freed through an untraced
  // path.
  std::optional<double> sure_growth;
  std::optional<double> deviation;  // standard deviation of `growth` between traces, in bytes per second; empty if
                                    // there is only one trace
};
// The order of rows with equal values in the sort column.
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
  std::vector<DiffTable> tables;  // the keys of the rows are strings
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
// Returns those columns of diff_columns() that the sums of a fleet contain.
std::vector<const Column<GroupRow>*> fleet_diff_columns();
std::string utc_text(std::uint32_t seconds);  // "2026-11-21T12:13:00Z"

}  // namespace kmt
