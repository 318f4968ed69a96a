// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/top.hpp"

#include <algorithm>
#include <array>

namespace kmt {

namespace {

constexpr std::array<TopViewInfo, 7> kViews = {
    {{TopView::call_sites, "call-sites", "Call site", "slab allocations by call site"},
     {TopView::stacks, "stacks", "Caller < its caller", "slab allocations by stack, estimated from samples"},
     {TopView::processes, "processes", "Process", "slab and page allocations by process"},
     {TopView::cgroups, "cgroups", "Cgroup", "slab and page allocations by cgroup"},
     {TopView::caches, "caches", "Cache", "slab allocations by cache"},
     {TopView::orders, "orders", "Pages", "page allocations by order"},
     {TopView::modules, "modules", "Module", "slab allocations by module of the call site"}}};

constexpr std::array<TopColumnInfo, 7> kTopColumns = {
    {{TopColumn::bytes_now, "bytes", "Bytes/s", "bytes allocated per second in the last interval"},
     {TopColumn::events_now, "events", "Events/s", "allocations per second in the last interval"},
     {TopColumn::live, "live", "Live", "live bytes of allocations since the start, estimated from samples"},
     {TopColumn::allocated, "allocated", "Allocated", "bytes allocated since the start"},
     {TopColumn::events, "total", "Events", "allocations since the start"},
     {TopColumn::wasted, "wasted", "Wasted", "bytes allocated beyond the requests since the start"},
     {TopColumn::failed, "failed", "Failed", "allocations that failed since the start"}}};

}  // namespace

std::span<const TopViewInfo> top_views() { return kViews; }
const TopViewInfo& info_of(TopView view) { return *std::ranges::find(kViews, view, &TopViewInfo::view); }
std::span<const TopColumnInfo> top_columns() { return kTopColumns; }

double value_of(const TopRow& row, TopColumn column) {
  switch (column) {
    case TopColumn::bytes_now: return static_cast<double>(row.bytes_now);
    case TopColumn::events_now: return static_cast<double>(row.events_now);
    case TopColumn::live: return row.live_bytes ? row.live_bytes->value : 0;
    case TopColumn::allocated: return static_cast<double>(row.allocated);
    case TopColumn::events: return static_cast<double>(row.events);
    case TopColumn::wasted: return static_cast<double>(row.allocated) - static_cast<double>(row.requested);
    case TopColumn::failed: return static_cast<double>(row.failed);
  }
  return 0;
}

void sort_rows(std::vector<TopRow>& rows, TopColumn column) {
  std::ranges::sort(rows, [column](const TopRow& a, const TopRow& b) {
    const double of_a = value_of(a, column);
    const double of_b = value_of(b, column);
    if (of_a != of_b) return of_a > of_b;
    return a.allocated != b.allocated ? a.allocated > b.allocated : a.name < b.name;
  });
}

}  // namespace kmt
