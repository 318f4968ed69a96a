// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/fleet/fleet.hpp"

#include <array>
#include <utility>

#include <fmt/chrono.h>

namespace kmt {

namespace {

constexpr std::array kFleetKeys = {
    FleetKeyInfo{"function", "Function", "function", "the function that allocates"},
    FleetKeyInfo{"call-site", "Call site", "call_site",
                 "the place in it, with the offset; differs from build to build"},
    FleetKeyInfo{"cache", "Cache", "cache", "the slab cache"},
    FleetKeyInfo{"order", "Order", "if(page_order < 0, '', toString(page_order))", "of pages, 2^order of them"},
    FleetKeyInfo{"migrate-type", "Migrate type", "migrate_type", "of pages: Unmovable, Movable, Reclaimable, …"},
    FleetKeyInfo{"comm", "Command", "comm", "the task's name, [softirq] and the like for interrupts"},
    FleetKeyInfo{"context", "Context", "context", "task, softirq, hardirq or nmi"},
    FleetKeyInfo{"host", "Host", "host", "the machine"},
    FleetKeyInfo{"kernel", "Kernel", "kernel", "its kernel's release"},
    FleetKeyInfo{"version", "Version", "extract(kernel, '^[0-9]+[.][0-9]+')", "the first two numbers of that: 6.1"},
    FleetKeyInfo{"trace", "Trace", "trace", "the trace's id"},
    FleetKeyInfo{"day", "Day", "toString(toDate(toDateTime(began, 'UTC')))", "the day on which recording began (UTC)"},
};

template <auto Member>
Cell sum(const FleetRow& row) {
  return Cell{std::uint64_t{row.sums.*Member}};
}

template <typename Number>
Cell maybe(std::optional<Number> value) {
  return value ? Cell{*value} : Cell{};
}

std::uint64_t wasted(const GroupRow& row) {
  return row.bytes_allocated > row.bytes_requested ? row.bytes_allocated - row.bytes_requested : 0;
}

Cell waste_percent(const FleetRow& row) {
  if (row.sums.allocator != Allocator::slab || row.sums.bytes_allocated == 0) return {};
  return 100.0 * static_cast<double>(wasted(row.sums)) / static_cast<double>(row.sums.bytes_allocated);
}

Cell mean_life(const FleetRow& row) {
  if (row.sums.matched_frees == 0) return {};
  return row.lifetime_ns / row.sums.matched_frees;
}

std::uint64_t not_negative(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

constexpr bool kFleetOnDemand = false;
constexpr std::array kFleetColumns = {
    Column<FleetRow>{"name", "Name", Unit::text, 0,
                     [](const FleetRow& row) { return Cell{std::string_view(row.name)}; }, "the group's keys"},
    Column<FleetRow>{"hosts", "Hosts", Unit::count, 2, [](const FleetRow& row) { return maybe(row.hosts); },
                     "hosts on which it allocated"},
    Column<FleetRow>{"traces", "Traces", Unit::count, 8, [](const FleetRow& row) { return maybe(row.traces); },
                     "traces in which it did"},
    Column<FleetRow>{"hits", "Hits", Unit::count, 1, sum<&GroupRow::allocations>, "allocations that succeeded"},
    Column<FleetRow>{"requested", "Requested", Unit::bytes, 7, sum<&GroupRow::bytes_requested>, "bytes asked for"},
    Column<FleetRow>{"allocated", "Allocated", Unit::bytes, 2, sum<&GroupRow::bytes_allocated>, "bytes given"},
    Column<FleetRow>{"waste", "Waste", Unit::percent, 4, waste_percent,
                     "unrequested part of the bytes given, slab objects only"},
    Column<FleetRow>{"frees", "Frees", Unit::count, 9, sum<&GroupRow::matched_frees>,
                     "frees of what was allocated in the same trace"},
    Column<FleetRow>{"freed", "Freed", Unit::bytes, 12, sum<&GroupRow::bytes_freed>, "bytes of these frees",
                     kFleetOnDemand},
    Column<FleetRow>{"live", "Live", Unit::count, 6, sum<&GroupRow::live_allocations>,
                     "allocations not freed when their trace, or --until, ends"},
    Column<FleetRow>{"live-bytes", "Live bytes", Unit::bytes, 3, sum<&GroupRow::live_bytes>, "bytes of them"},
    Column<FleetRow>{"mean-life", "Mean life", Unit::duration, 10, mean_life,
                     "how long the allocations that were freed had lived, on average"},
    Column<FleetRow>{"pingpong", "Ping-pong", Unit::count, 5, sum<&GroupRow::cross_cpu_frees>,
                     "frees on another CPU than the allocation's"},
    Column<FleetRow>{"failed", "Failed", Unit::count, 11, sum<&GroupRow::failed_allocations>,
                     "allocations that got nothing"},
};

using Leak = FleetLeakRow;
constexpr std::array kLeakColumns = {
    Column<Leak>{"name", "Name", Unit::text, 0, [](const Leak& row) { return Cell{std::string_view(row.name)}; },
                 "the group's keys"},
    Column<Leak>{"growth", "Growth/s", Unit::bytes_per_s, 1, [](const Leak& row) { return maybe(row.growth); },
                 "by how many bytes a second it grew, the mean of the traces of a second or longer by their lengths"},
    Column<Leak>{"sure", "Sure/s", Unit::bytes_per_s, 1, [](const Leak& row) { return maybe(row.sure_growth); },
                 "the same of what is neither reclaimable nor may have been freed through an untraced path"},
    Column<Leak>{"deviation", "+/-", Unit::bytes_per_s, 5, [](const Leak& row) { return maybe(row.deviation); },
                 "the standard deviation of the growth between traces"},
    Column<Leak>{"growing", "Growing", Unit::count, 2, [](const Leak& row) { return Cell{row.growing_hosts}; },
                 "hosts on which it grew, and what is sure of it, in traces of a second or longer"},
    Column<Leak>{"hosts", "Hosts", Unit::count, 2, [](const Leak& row) { return Cell{row.hosts}; },
                 "hosts on which it allocated"},
    Column<Leak>{"growing-traces", "Growing traces", Unit::count, 9,
                 [](const Leak& row) { return Cell{row.growing_traces}; },
                 "traces of a second or longer in which it grew"},
    Column<Leak>{"traces", "Traces", Unit::count, 9, [](const Leak& row) { return Cell{row.traces}; },
                 "traces in which it allocated"},
    Column<Leak>{"live", "Live", Unit::count, 4,
                 [](const Leak& row) { return Cell{not_negative(row.live_allocations)}; },
                 "allocations not freed when their trace ends"},
    Column<Leak>{"live-bytes", "Live bytes", Unit::bytes, 3,
                 [](const Leak& row) { return Cell{not_negative(row.live_bytes)}; }, "bytes of them"},
    Column<Leak>{
        "reclaimable", "Reclaimable", Unit::bytes, 6,
        [](const Leak& row) { return row.reclaimable_bytes ? Cell{not_negative(*row.reclaimable_bytes)} : Cell{}; },
        "of them, what the kernel takes back: inodes, dentries and the like, users' pages and page cache"},
    Column<Leak>{
        "unseen", "Unseen", Unit::bytes, 6, [](const Leak& row) { return Cell{not_negative(row.unseen_bytes)}; },
        "of them, what may be free: its addresses are given again without a free, or the trace may lack frees"},
};

}  // namespace

std::span<const FleetKeyInfo> fleet_keys() { return kFleetKeys; }
std::span<const Column<FleetRow>> fleet_columns() { return kFleetColumns; }
std::span<const Column<FleetLeakRow>> fleet_leak_columns() { return kLeakColumns; }

std::vector<const Column<GroupRow>*> fleet_diff_columns() {
  std::vector<const Column<GroupRow>*> columns;
  for (const Column<GroupRow>* column : diff_columns()) {
    const bool known = column->unit != Unit::duration && column->key != "peak" && column->key != "cross-node" &&
                       column->key != "short-lived";
    if (known) columns.push_back(column);
  }
  return columns;
}

FleetRow sum_of(std::span<const FleetRow* const> rows, std::string name) {
  std::vector<const GroupRow*> parts;
  FleetRow sum;
  sum.name = std::move(name);
  for (const FleetRow* row : rows) {
    parts.push_back(&row->sums);
    sum.lifetime_ns += row->lifetime_ns;
  }
  sum.sums = sum_of(parts, sum.name);
  return sum;
}

std::string utc_text(std::uint32_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace kmt
