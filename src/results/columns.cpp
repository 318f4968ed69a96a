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

// Zero where a kernel breaks the rule that it gives at least what is asked for; `check` reports that.
std::uint64_t wasted_bytes(const CallSiteRow& row) {
  return row.bytes_allocated > row.bytes_requested ? row.bytes_allocated - row.bytes_requested : 0;
}

Cell waste_percent(const CallSiteRow& row) {
  if (row.bytes_allocated == 0) return {};
  return 100.0 * static_cast<double>(wasted_bytes(row)) / static_cast<double>(row.bytes_allocated);
}

// Bytes that are known only where the kernel says what it gave.
template <auto Member>
Cell given_bytes(const CallSiteRow& row) {
  if (!row.knows_bytes) return {};
  return member<Member>(row);
}

Cell bytes_each(const CallSiteRow& row) {
  if (row.allocations == 0 || !row.knows_bytes) return {};
  return row.bytes_allocated / row.allocations;
}

using Site = CallSiteRow;
constexpr std::array kCallSiteColumns = {
    Column<Site>{"symbol", "Call site", Unit::text, 0,
                 [](const Site& row) { return Cell{std::string_view(row.symbol)}; },
                 "function and offset that the allocation returns to, with its module"},
    Column<Site>{"address", "Address", Unit::address, 12, [](const Site& row) { return member<&Site::address>(row); },
                 "the same as an address"},
    Column<Site>{"hits", "Hits", Unit::count, 1, [](const Site& row) { return member<&Site::allocations>(row); },
                 "allocations that succeeded"},
    Column<Site>{"requested", "Requested", Unit::bytes, 7,
                 [](const Site& row) { return member<&Site::bytes_requested>(row); }, "bytes asked for"},
    Column<Site>{"allocated", "Allocated", Unit::bytes, 2,
                 [](const Site& row) { return member<&Site::bytes_allocated>(row); },
                 "bytes given: the sizes of the slots that were taken"},
    Column<Site>{"size", "Each", Unit::bytes, 6, [](const Site& row) { return bytes_each(row); },
                 "bytes given for one allocation, on average"},
    Column<Site>{"waste", "Waste", Unit::percent, 3, [](const Site& row) { return waste_percent(row); },
                 "part of the bytes given that nobody asked for: 100 - 100 * requested / allocated"},
    Column<Site>{"wasted", "Wasted", Unit::bytes, 9, [](const Site& row) { return Cell{wasted_bytes(row)}; },
                 "bytes given that nobody asked for"},
    Column<Site>{"frees", "Frees", Unit::count, 11, [](const Site& row) { return member<&Site::frees>(row); },
                 "frees, by whomever, of what was allocated here in the trace"},
    Column<Site>{"live", "Live", Unit::count, 8, [](const Site& row) { return member<&Site::live_allocations>(row); },
                 "allocations not freed when the trace ends"},
    Column<Site>{"live-bytes", "Live bytes", Unit::bytes, 4,
                 [](const Site& row) { return member<&Site::live_bytes>(row); }, "bytes not freed when the trace ends"},
    Column<Site>{"pingpong", "Ping-pong", Unit::count, 5,
                 [](const Site& row) { return member<&Site::cross_cpu_frees>(row); },
                 "frees on another CPU than the allocation's: the object's cache lines travel"},
    Column<Site>{"failed", "Failed", Unit::count, 10,
                 [](const Site& row) { return member<&Site::failed_allocations>(row); }, "allocations that got NULL"},
};

constexpr std::array kPercpuCallSiteColumns = {
    Column<Site>{
        "symbol", "Call site", Unit::text, 0, [](const Site& row) { return Cell{std::string_view(row.symbol)}; },
        "function and offset that the allocation returns to, with its module; unknown: the kernel does not say"},
    Column<Site>{"address", "Address", Unit::address, 12, [](const Site& row) { return member<&Site::address>(row); },
                 "the same as an address"},
    Column<Site>{"hits", "Hits", Unit::count, 1, [](const Site& row) { return member<&Site::allocations>(row); },
                 "allocations that succeeded"},
    Column<Site>{"requested", "For a CPU", Unit::bytes, 3,
                 [](const Site& row) { return member<&Site::bytes_requested>(row); }, "bytes asked for each CPU"},
    Column<Site>{"allocated", "Allocated", Unit::bytes, 2,
                 [](const Site& row) { return given_bytes<&Site::bytes_allocated>(row); },
                 "bytes taken of the machine, for all possible CPUs"},
    Column<Site>{"size", "Each", Unit::bytes, 6, [](const Site& row) { return bytes_each(row); },
                 "bytes taken by one allocation, on average"},
    Column<Site>{"frees", "Frees", Unit::count, 7, [](const Site& row) { return member<&Site::frees>(row); },
                 "frees, by whomever, of what was allocated here in the trace"},
    Column<Site>{"live", "Live", Unit::count, 5, [](const Site& row) { return member<&Site::live_allocations>(row); },
                 "allocations not freed when the trace ends"},
    Column<Site>{"live-bytes", "Live bytes", Unit::bytes, 4,
                 [](const Site& row) { return given_bytes<&Site::live_bytes>(row); },
                 "bytes not freed when the trace ends"},
    Column<Site>{"failed", "Failed", Unit::count, 8,
                 [](const Site& row) { return member<&Site::failed_allocations>(row); },
                 "allocations that got NULL; their events name no call site"},
};

using Order = PageOrderRow;
constexpr std::array kPageOrderColumns = {
    Column<Order>{"order", "Order", Unit::order, 0, [](const Order& row) { return Cell{std::uint64_t{row.order}}; },
                  "2^order pages in one allocation"},
    Column<Order>{"allocations", "Allocations", Unit::count, 1,
                  [](const Order& row) { return member<&Order::allocations>(row); }, "allocations that succeeded"},
    Column<Order>{"allocated", "Allocated", Unit::bytes, 2,
                  [](const Order& row) { return member<&Order::bytes_allocated>(row); }, "bytes of these pages"},
    Column<Order>{"frees", "Frees", Unit::count, 4, [](const Order& row) { return member<&Order::frees>(row); },
                  "frees of this order, of whatever was allocated with"},
    Column<Order>{"live-bytes", "Live bytes", Unit::bytes, 3,
                  [](const Order& row) { return member<&Order::live_bytes>(row); },
                  "bytes of allocations of this order not freed when the trace ends"},
    Column<Order>{"failed", "Failed", Unit::count, 5,
                  [](const Order& row) { return member<&Order::failed_allocations>(row); },
                  "allocations that got no page"},
};

}  // namespace

std::span<const Column<CallSiteRow>> call_site_columns() { return kCallSiteColumns; }
std::span<const Column<CallSiteRow>> percpu_call_site_columns() { return kPercpuCallSiteColumns; }
std::span<const Column<PageOrderRow>> page_order_columns() { return kPageOrderColumns; }

const Column<CallSiteRow>* find_column(std::span<const Column<CallSiteRow>> columns, std::string_view key) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [key](const auto& column) { return column.key == key; });
  return found == columns.end() ? nullptr : &*found;
}

const Column<CallSiteRow>* find_call_site_column(std::string_view key) { return find_column(kCallSiteColumns, key); }

std::vector<const CallSiteRow*> sorted_call_sites(const std::vector<CallSiteRow>& rows, const Column<CallSiteRow>& by) {
  std::vector<const CallSiteRow*> sorted;
  sorted.reserve(rows.size());
  for (const CallSiteRow& row : rows) sorted.push_back(&row);
  const bool ascending = by.unit == Unit::text || by.unit == Unit::address;
  std::sort(sorted.begin(), sorted.end(), [&by, ascending](const CallSiteRow* a, const CallSiteRow* b) {
    const Cell left = by.get(*a);
    const Cell right = by.get(*b);
    if (left != right) return ascending ? left < right : left > right;
    return std::tuple(b->bytes_allocated, a->address) < std::tuple(a->bytes_allocated, b->address);
  });
  return sorted;
}

CallSiteRow sum_of(std::span<const CallSiteRow* const> rows, std::string_view symbol) {
  CallSiteRow sum;
  sum.symbol = symbol;
  for (const CallSiteRow* row : rows) {
    sum.allocations += row->allocations;
    sum.frees += row->frees;
    sum.failed_allocations += row->failed_allocations;
    sum.bytes_requested += row->bytes_requested;
    sum.bytes_allocated += row->bytes_allocated;
    sum.live_allocations += row->live_allocations;
    sum.live_bytes += row->live_bytes;
    sum.cross_cpu_frees += row->cross_cpu_frees;
    sum.knows_bytes = sum.knows_bytes && row->knows_bytes;
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
