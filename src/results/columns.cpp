// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/columns.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace kmt {

namespace {

template <auto Member>
Cell member(const auto& row) {
  return Cell{std::uint64_t{row.*Member}};
}

// Returns the bytes allocated beyond the request. Only slab objects have this value. Percpu memory is requested for one
// CPU but allocated for all CPUs. Vmap areas and pages have exactly the requested size. Returns 0 if a kernel
// allocates less than requested; `check` reports such events.
Cell wasted_bytes(const GroupRow& row) {
  if (row.allocator != Allocator::slab) return {};
  return row.bytes_allocated > row.bytes_requested ? row.bytes_allocated - row.bytes_requested : std::uint64_t{0};
}

Cell waste_percent(const GroupRow& row) {
  const Cell wasted = wasted_bytes(row);
  if (row.bytes_allocated == 0 || !std::holds_alternative<std::uint64_t>(wasted)) return {};
  return 100.0 * static_cast<double>(std::get<std::uint64_t>(wasted)) / static_cast<double>(row.bytes_allocated);
}

// Returns a sum of bytes; empty if the kernel does not report the allocated bytes.
template <auto Member>
Cell given_bytes(const GroupRow& row) {
  if (!row.knows_bytes) return {};
  return member<Member>(row);
}

template <auto Member>
Cell freed_bytes(const GroupRow& row) {
  if (!row.knows_freed) return {};
  return given_bytes<Member>(row);
}

Cell bytes_each(const GroupRow& row) {
  if (row.allocations == 0 || !row.knows_bytes) return {};
  return row.bytes_allocated / row.allocations;
}

Cell rate(const GroupRow& row) {
  if (row.recorded_ns == 0) return {};
  return static_cast<double>(row.allocations) * 1e9 / static_cast<double>(row.recorded_ns);
}

Cell address(const GroupRow& row) {
  for (const KeyValue& key : row.keys)
    if (const auto* code = std::get_if<CodeAddress>(&key)) return code->address;
  return {};
}

Cell peak(const GroupRow& row, std::uint64_t value) {
  if (!row.peak_bytes || !row.knows_bytes) return {};
  return value;
}

Cell of_lifetimes(const GroupRow& row, std::uint64_t value) {
  if (row.lifetimes.count() == 0) return {};
  return value;
}

template <auto Member>
Cell window_bytes(const GroupRow& row) {
  if (!row.window || !row.knows_bytes) return {};
  return ((*row.window).*Member).bytes;
}

constexpr bool kOnDemand = false;
constexpr bool kNeedsWindow = true;

constexpr std::array kGroupColumns = {
    Column<GroupRow>{"name", "Name", Unit::text, 0,
                     [](const GroupRow& row) { return Cell{std::string_view(row.name)}; },
                     "name of the group; for a call site, its function, offset and module"},
    Column<GroupRow>{"address", "Address", Unit::address, 12, address, "address of the call site", kOnDemand},
    Column<GroupRow>{"hits", "Hits", Unit::count, 1,
                     [](const GroupRow& row) { return member<&GroupRow::allocations>(row); },
                     "allocations that succeeded"},
    Column<GroupRow>{"requested", "Requested", Unit::bytes, 7,
                     [](const GroupRow& row) { return member<&GroupRow::bytes_requested>(row); },
                     "requested bytes; for percpu memory, the bytes for one CPU"},
    Column<GroupRow>{
        "allocated", "Allocated", Unit::bytes, 2, given_bytes<&GroupRow::bytes_allocated>,
        "bytes allocated: for slab objects, the sizes of the slots used; for percpu memory, the bytes for all CPUs"},
    Column<GroupRow>{"size", "Each", Unit::bytes, 6, bytes_each, "average bytes allocated per allocation"},
    Column<GroupRow>{"waste", "Waste", Unit::percent, 3, waste_percent,
                     "unrequested share of the allocated bytes: 100 - 100 * requested / allocated"},
    Column<GroupRow>{"wasted", "Wasted", Unit::bytes, 9, wasted_bytes, "bytes allocated beyond the request"},
    Column<GroupRow>{"frees", "Frees", Unit::count, 12,
                     [](const GroupRow& row) { return member<&GroupRow::matched_frees>(row); },
                     "frees, by any task, of allocations that the group made in the trace"},
    Column<GroupRow>{"freed", "Freed", Unit::bytes, 13, freed_bytes<&GroupRow::bytes_freed>,
                     "bytes freed by these frees", kOnDemand},
    Column<GroupRow>{"live", "Live", Unit::count, 8,
                     [](const GroupRow& row) { return member<&GroupRow::live_allocations>(row); },
                     "allocations not freed when the trace ends"},
    Column<GroupRow>{"live-bytes", "Live bytes", Unit::bytes, 4, freed_bytes<&GroupRow::live_bytes>,
                     "bytes not freed when the trace ends"},
    Column<GroupRow>{"peak", "Peak", Unit::bytes, 10,
                     [](const GroupRow& row) { return peak(row, row.peak_bytes.value_or(0)); },
                     "most bytes live at one time"},
    Column<GroupRow>{"peak-at", "Peak at", Unit::time, 13, [](const GroupRow& row) { return peak(row, row.peak_ns); },
                     "time when the peak was first reached, on the trace's clock", kOnDemand},
    Column<GroupRow>{"rate", "Hits/s", Unit::rate, 13, rate, "allocations per second of recorded time (within --time)",
                     kOnDemand},
    Column<GroupRow>{"mean-life", "Mean life", Unit::duration, 10,
                     [](const GroupRow& row) { return of_lifetimes(row, row.lifetimes.mean_ns()); },
                     "average lifetime of allocations that were freed"},
    Column<GroupRow>{"p50-life", "Life 50%", Unit::duration, 13,
                     [](const GroupRow& row) { return of_lifetimes(row, row.lifetimes.percentile_ns(50)); },
                     "median lifetime; the value may be up to 25 % too high", kOnDemand},
    Column<GroupRow>{"p90-life", "Life 90%", Unit::duration, 13,
                     [](const GroupRow& row) { return of_lifetimes(row, row.lifetimes.percentile_ns(90)); },
                     "90 of 100 allocations lived at most this long; may be up to 25 % too high", kOnDemand},
    Column<GroupRow>{"p99-life", "Life 99%", Unit::duration, 13,
                     [](const GroupRow& row) { return of_lifetimes(row, row.lifetimes.percentile_ns(99)); },
                     "99 of 100 allocations lived at most this long; may be up to 25 % too high", kOnDemand},
    Column<GroupRow>{"short-lived", "Under 1 ms", Unit::count, 13,
                     [](const GroupRow& row) { return Cell{row.lifetimes.under_1ms()}; },
                     "allocations that lived under a millisecond", kOnDemand},
    Column<GroupRow>{"pingpong", "Ping-pong", Unit::count, 5,
                     [](const GroupRow& row) { return member<&GroupRow::cross_cpu_frees>(row); },
                     "frees on a different CPU than the allocation: the object's cache lines move between CPUs"},
    Column<GroupRow>{"cross-node", "Cross-node", Unit::count, 11,
                     [](const GroupRow& row) { return row.cross_node_frees ? Cell{*row.cross_node_frees} : Cell{}; },
                     "frees on a different NUMA node than the allocation"},
    Column<GroupRow>{"failed", "Failed", Unit::count, 11,
                     [](const GroupRow& row) { return member<&GroupRow::failed_allocations>(row); },
                     "failed allocations"},
    Column<GroupRow>{"left-live", "Left live", Unit::bytes, 3, window_bytes<&WindowClasses::left_live>,
                     "with --window: bytes allocated in the window and live at its end", kOnDemand, kNeedsWindow},
    Column<GroupRow>{"freed-inside", "Freed inside", Unit::bytes, 5, window_bytes<&WindowClasses::freed_inside>,
                     "with --window: bytes allocated and freed in the window", kOnDemand, kNeedsWindow},
    Column<GroupRow>{"freed-older", "Older freed", Unit::bytes, 4, window_bytes<&WindowClasses::freed_older>,
                     "with --window: bytes allocated before the window and freed in it", kOnDemand, kNeedsWindow},
    Column<GroupRow>{"throughout", "Throughout", Unit::bytes, 6, window_bytes<&WindowClasses::throughout>,
                     "with --window: bytes allocated before the window and live at its end", kOnDemand, kNeedsWindow},
};

using Order = PageOrderRow;
constexpr std::array kPageOrderColumns = {
    Column<Order>{"order", "Order", Unit::order, 0, [](const Order& row) { return Cell{std::uint64_t{row.order}}; },
                  "each allocation has 2^order pages"},
    Column<Order>{"allocations", "Allocations", Unit::count, 1,
                  [](const Order& row) { return member<&Order::allocations>(row); }, "allocations that succeeded"},
    Column<Order>{"allocated", "Allocated", Unit::bytes, 2,
                  [](const Order& row) { return member<&Order::bytes_allocated>(row); }, "bytes of these pages"},
    Column<Order>{"frees", "Free events", Unit::count, 4, [](const Order& row) { return member<&Order::frees>(row); },
                  "frees of this order, even if the allocation had another order"},
    Column<Order>{"live-bytes", "Live bytes", Unit::bytes, 3,
                  [](const Order& row) { return member<&Order::live_bytes>(row); },
                  "bytes of allocations of this order that are not freed when the trace ends"},
    Column<Order>{"failed", "Failed", Unit::count, 5,
                  [](const Order& row) { return member<&Order::failed_allocations>(row); },
                  "failed allocations of this order"},
};

}  // namespace

namespace {

std::vector<const GroupRow*> sorted_by_keys(const std::vector<GroupRow>& rows) {
  std::vector<const GroupRow*> sorted;
  sorted.reserve(rows.size());
  for (const GroupRow& row : rows) sorted.push_back(&row);
  std::stable_sort(sorted.begin(), sorted.end(), [](const GroupRow* a, const GroupRow* b) {
    return std::lexicographical_compare(a->keys.begin(), a->keys.end(), b->keys.begin(), b->keys.end(), comes_before);
  });
  return sorted;
}

}  // namespace

std::span<const Column<GroupRow>> group_columns() { return kGroupColumns; }
std::span<const Column<PageOrderRow>> page_order_columns() { return kPageOrderColumns; }

const Column<GroupRow>* find_group_column(std::string_view key) {
  const auto found =
      std::find_if(kGroupColumns.begin(), kGroupColumns.end(), [key](const auto& column) { return column.key == key; });
  return found == kGroupColumns.end() ? nullptr : &*found;
}

bool adds_up(const Column<GroupRow>& column) {
  const bool is_amount = column.unit == Unit::count || column.unit == Unit::bytes;
  return is_amount && column.key != "size" && column.key != "peak";
}

std::vector<const GroupRow*> sorted_rows(const std::vector<GroupRow>& rows, const Column<GroupRow>& by) {
  if (by.key == "name") return sorted_by_keys(rows);
  return sorted_by_column(rows, by, [](const GroupRow& a, const GroupRow& b) {
    return std::tie(b.bytes_allocated, a.name) < std::tie(a.bytes_allocated, b.name);
  });
}

GroupRow sum_of(std::span<const GroupRow* const> rows, std::string_view name) {
  GroupRow sum;
  sum.name = name;
  sum.cross_node_frees = 0;
  for (const GroupRow* row : rows) {
    sum.allocator = row->allocator;
    sum += *row;
    if (!row->cross_node_frees) sum.cross_node_frees.reset();
    if (sum.cross_node_frees) *sum.cross_node_frees += *row->cross_node_frees;
    sum.lifetimes.add(row->lifetimes);
    sum.maybe_freed += row->maybe_freed;
    if (row->window) sum.window = sum.window.value_or(WindowClasses{}) += *row->window;
    sum.recorded_ns = row->recorded_ns;
    sum.knows_bytes = sum.knows_bytes && row->knows_bytes;
    sum.knows_freed = sum.knows_freed && row->knows_freed;
  }
  return sum;
}

PageOrderRow sum_of(const std::vector<PageOrderRow>& rows) {
  PageOrderRow sum;
  for (const PageOrderRow& row : rows) {
    sum.allocations += row.allocations;
    sum.failed_allocations += row.failed_allocations;
    sum.frees += row.frees;
    sum.bytes_allocated += row.bytes_allocated;
    sum.live_bytes += row.live_bytes;
  }
  return sum;
}

}  // namespace kmt
