// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/top.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kmt {

namespace {

constexpr std::array<TopViewInfo, kTopViews> kViews = {
    {{TopView::call_sites, "call-sites", "Call site", "slab allocations by call site"},
     {TopView::stacks, "stacks", "Caller < its caller", "slab allocations by stack, estimated from samples"},
     {TopView::processes, "processes", "Process", "slab and page allocations by process"},
     {TopView::cgroups, "cgroups", "Cgroup", "slab and page allocations by cgroup"},
     {TopView::caches, "caches", "Cache", "slab allocations by cache"},
     {TopView::orders, "orders", "Pages", "page allocations by order"},
     {TopView::modules, "modules", "Module", "slab allocations by module of the call site"},
     {TopView::net, "net", "Cache", "slab objects by cache, allocated and freed"},
     {TopView::subsystems, "subsystems", "Subsystem", "slab allocations by subsystem of the call site"},
     {TopView::directories, "directories", "Directory", "slab allocations by source directory of the call site"}}};

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
std::string_view backend_text(std::string_view backend) {
  if (backend == "hist") return "counted by hist triggers";
  return backend == "ring-buffer" ? "counted from the ring buffer" : "counted by BPF programs";
}
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
    case TopColumn::net: return row.objects ? std::abs(static_cast<double>(row.objects->net_bytes())) : 0;
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

std::vector<TopRow> rows_of_caches(const CacheCounts& since_start, const CacheCounts& now) {
  std::vector<TopRow> rows;
  for (const CacheCount& cache : since_start.rows) {
    const auto found = std::ranges::find_if(now.rows, [&](const CacheCount& one) { return is_same_cache(one, cache); });
    CacheCount idle{cache.name, cache.object_bytes, 0, 0, {}};
    TopRow row;
    row.name = cache.name;
    row.objects = cache;
    row.objects_now = found == now.rows.end() ? idle : *found;
    row.events_now = row.objects_now->allocations;
    row.bytes_now = row.events_now * cache.object_bytes;
    row.events = cache.allocations;
    row.allocated = cache.allocations * cache.object_bytes;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kmt
