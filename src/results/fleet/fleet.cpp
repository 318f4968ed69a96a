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
                 "the function with the offset of the call; the offset differs between builds"},
    FleetKeyInfo{"module", "Module",
                 "multiIf(call_site = '' OR startsWith(call_site, '0x'), '', "
                 "match(call_site, ' [[](bpf|__builtin__.*)[]]$'), extract(call_site, ' ([[].*[]])$'), "
                 "match(call_site, ' [[].*[]]$'), extract(call_site, ' [[](.*)[]]$'), '[kernel]')",
                 "the kernel module of the call site; [kernel] is built-in code"},
    FleetKeyInfo{"subsystem", "Subsystem", "subsystem", "the kernel subsystem of the call site"},
    FleetKeyInfo{"directory", "Directory", "directory", "the source directory of the call site"},
    FleetKeyInfo{"cache", "Cache", "cache", "the slab cache"},
    FleetKeyInfo{"order", "Order", "if(page_order < 0, '', toString(page_order))",
                 "pages only: the order (2^order pages per allocation)"},
    FleetKeyInfo{"migrate-type", "Migrate type", "migrate_type",
                 "pages only: the migrate type (Unmovable, Movable, Reclaimable, …)"},
    FleetKeyInfo{"comm", "Command", "comm", "the name of the task; [softirq], [hardirq] or [nmi] for interrupts"},
    FleetKeyInfo{"context", "Context", "context", "task, softirq, hardirq or nmi"},
    FleetKeyInfo{"host", "Host", "host", "the machine"},
    FleetKeyInfo{"kernel", "Kernel", "kernel", "the kernel release of the host"},
    FleetKeyInfo{"version", "Version", "extract(kernel, '^[0-9]+[.][0-9]+')",
                 "the first two numbers of the kernel release, for example 6.1"},
    FleetKeyInfo{"trace", "Trace", "trace", "the trace's id"},
    FleetKeyInfo{"day", "Day", "toString(toDate(toDateTime(began, 'UTC')))",
                 "the day on which the recording started (UTC)"},
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
                     "hosts on which the group allocated"},
    Column<FleetRow>{"traces", "Traces", Unit::count, 8, [](const FleetRow& row) { return maybe(row.traces); },
                     "traces in which the group allocated"},
    Column<FleetRow>{"hits", "Hits", Unit::count, 1, sum<&GroupRow::allocations>, "allocations that succeeded"},
    Column<FleetRow>{"requested", "Requested", Unit::bytes, 7, sum<&GroupRow::bytes_requested>, "requested bytes"},
    Column<FleetRow>{"allocated", "Allocated", Unit::bytes, 2, sum<&GroupRow::bytes_allocated>, "bytes allocated"},
    Column<FleetRow>{"waste", "Waste", Unit::percent, 4, waste_percent,
                     "unrequested share of the allocated bytes (slab objects only)"},
    Column<FleetRow>{"frees", "Frees", Unit::count, 9, sum<&GroupRow::matched_frees>,
                     "frees of objects allocated in the same trace"},
    Column<FleetRow>{"freed", "Freed", Unit::bytes, 12, sum<&GroupRow::bytes_freed>, "bytes freed by these frees",
                     kFleetOnDemand},
    Column<FleetRow>{"live", "Live", Unit::count, 6, sum<&GroupRow::live_allocations>,
                     "allocations not freed at the end of their trace, or at --until"},
    Column<FleetRow>{"live-bytes", "Live bytes", Unit::bytes, 3, sum<&GroupRow::live_bytes>,
                     "bytes of these allocations"},
    Column<FleetRow>{"mean-life", "Mean life", Unit::duration, 10, mean_life,
                     "average lifetime of allocations that were freed"},
    Column<FleetRow>{"pingpong", "Ping-pong", Unit::count, 5, sum<&GroupRow::cross_cpu_frees>,
                     "frees on a different CPU than the allocation"},
    Column<FleetRow>{"failed", "Failed", Unit::count, 11, sum<&GroupRow::failed_allocations>, "failed allocations"},
};

using Leak = FleetLeakRow;
constexpr std::array kLeakColumns = {
    Column<Leak>{"name", "Name", Unit::text, 0, [](const Leak& row) { return Cell{std::string_view(row.name)}; },
                 "the group's keys"},
    Column<Leak>{"growth", "Growth/s", Unit::bytes_per_s, 1, [](const Leak& row) { return maybe(row.growth); },
                 "growth in bytes per second: the mean over traces of at least a second, weighted by their lengths"},
    Column<Leak>{"sure", "Sure/s", Unit::bytes_per_s, 1, [](const Leak& row) { return maybe(row.sure_growth); },
                 "growth without reclaimable memory and memory that may have been freed through an untraced path"},
    Column<Leak>{"deviation", "+/-", Unit::bytes_per_s, 5, [](const Leak& row) { return maybe(row.deviation); },
                 "standard deviation of the growth across traces"},
    Column<Leak>{"growing", "Growing", Unit::count, 2, [](const Leak& row) { return Cell{row.growing_hosts}; },
                 "hosts on which the growth and its sure part are positive, in traces of at least a second"},
    Column<Leak>{"hosts", "Hosts", Unit::count, 2, [](const Leak& row) { return Cell{row.hosts}; },
                 "hosts on which the group allocated"},
    Column<Leak>{"growing-traces", "Growing traces", Unit::count, 9,
                 [](const Leak& row) { return Cell{row.growing_traces}; },
                 "traces of at least a second in which the group grew"},
    Column<Leak>{"traces", "Traces", Unit::count, 9, [](const Leak& row) { return Cell{row.traces}; },
                 "traces in which the group allocated"},
    Column<Leak>{"live", "Live", Unit::count, 4,
                 [](const Leak& row) { return Cell{not_negative(row.live_allocations)}; },
                 "allocations not freed at the end of their trace"},
    Column<Leak>{"live-bytes", "Live bytes", Unit::bytes, 3,
                 [](const Leak& row) { return Cell{not_negative(row.live_bytes)}; }, "bytes of these allocations"},
    Column<Leak>{
        "reclaimable", "Reclaimable", Unit::bytes, 6,
        [](const Leak& row) { return row.reclaimable_bytes ? Cell{not_negative(*row.reclaimable_bytes)} : Cell{}; },
        "reclaimable live bytes: inodes, dentries and similar objects, user pages and page cache"},
    Column<Leak>{
        "unseen", "Unseen", Unit::bytes, 6, [](const Leak& row) { return Cell{not_negative(row.unseen_bytes)}; },
        "live bytes that may be free: their addresses were reused without a traced free, or the trace may lack frees"},
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
