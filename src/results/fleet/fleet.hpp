// SPDX-License-Identifier: GPL-2.0-or-later
// Results from traces of many machines: groups of allocations, summed over hosts and traces.
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
  std::string_view name;    // the word for --by
  std::string_view header;  // of tables
  std::string_view sql;     // its value, a text, of a row of sums
  std::string_view meaning;
};
std::span<const FleetKeyInfo> fleet_keys();

// The traces that a selection takes.
struct FleetSummary {
  std::string selection;  // in words; empty: all
  std::uint64_t traces = 0;
  std::uint64_t hosts = 0;
  std::vector<std::string> kernels;
  std::uint64_t recorded_ns = 0;  // of all traces together, as far as they are selected
  std::uint64_t events = 0;       // of whole traces, lost ones likewise
  std::uint64_t lost_events = 0;
  std::uint64_t may_lack_frees = 0;  // traces whose live memory at the end may have been freed
  bool whole_events = true;          // traces are selected whole
  std::uint32_t first_began = 0;     // seconds since 1970
  std::uint32_t last_began = 0;
};

// Sums of a group. GroupRow's peaks, first and last times, cross-node frees and spread of lifetimes stay empty.
struct FleetRow {
  std::vector<std::string> keys;  // as many as are grouped by, none of a sum; empty: not known, or there is none
  std::string name;
  std::optional<std::uint64_t> hosts;  // empty for a sum: its groups may share hosts
  std::optional<std::uint64_t> traces;
  GroupRow sums;
  std::uint64_t lifetime_ns = 0;  // of the matched frees together
};
// One row that adds up all.
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

// Memory that is live at the end of traces.
struct FleetLeakRow {
  std::vector<std::string> keys;
  std::string name;
  std::uint64_t hosts = 0;
  std::uint64_t growing_hosts = 0;  // of at least one trace in which it grew
  std::uint64_t traces = 0;
  std::uint64_t growing_traces = 0;
  std::int64_t live_allocations = 0;
  std::int64_t live_bytes = 0;
  std::optional<std::int64_t> reclaimable_bytes;  // of them, that the kernel takes back; empty: not of slab, nor pages
  std::int64_t unseen_bytes = 0;                  // of them, that may have been freed through an untraced path
  // Bytes a second, of traces of a second or longer (empty: there is none): the slope of the line of least squares, its
  // mean by the traces' lengths, and the standard deviation between them (empty: of one trace).
  std::optional<double> growth;
  std::optional<double> sure_growth;  // of what is neither reclaimable nor may have been freed through an untraced path
  std::optional<double> deviation;    // of `growth`
};
// Which comes first of rows that are equal in what they are ordered by.
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
  std::vector<DiffTable> tables;  // keys of rows are texts
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
  std::vector<FleetTraceRow> rows;  // the newest first
};

std::span<const Column<FleetRow>> fleet_columns();
std::span<const Column<FleetLeakRow>> fleet_leak_columns();
// Those of diff_columns() that sums of a fleet tell.
std::vector<const Column<GroupRow>*> fleet_diff_columns();
std::string utc_text(std::uint32_t seconds);  // "2026-11-21T12:13:00Z"

}  // namespace kmt
