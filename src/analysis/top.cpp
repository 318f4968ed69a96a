// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/top.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/heap_names.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostRows = 20000;  // of a view; processes come and go
constexpr const char* kOthers = "[others]";

bool shows(TopView view, const HeapSite& site) {
  switch (view) {
    case TopView::stacks: return false;
    case TopView::orders: return site.pages;
    case TopView::call_sites:
    case TopView::caches: return !site.pages;
    case TopView::processes:
    case TopView::cgroups: return true;
  }
  return false;
}

// What samples are grouped by for a view.
HeapKey key_of(TopView view) {
  switch (view) {
    case TopView::call_sites: return HeapKey::call_site;
    case TopView::stacks: return HeapKey::stack;
    case TopView::processes: return HeapKey::process;
    case TopView::cgroups: return HeapKey::cgroup;
    case TopView::caches:
    case TopView::orders: break;  // "pages of 16.0 KiB"
  }
  return HeapKey::cache;
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(std::max(value, 0.0))); }

// All of it is estimated.
TopRow row_of_stack(const HeapRow& from) {
  TopRow row;
  row.name = from.keys.back();
  row.stack = from.stack;
  row.events = rounded(from.figures.objects.value);
  row.requested = rounded(from.figures.requested.value);
  row.allocated = rounded(from.figures.bytes.value);
  row.live_bytes = from.figures.live_bytes;
  return row;
}

}  // namespace

TopAccount::TopAccount(std::uint64_t mean_bytes, const SymbolNames& symbols,
                       std::function<std::string(std::uint64_t)> cgroup_name)
    : symbols_(symbols), cgroup_name_(cgroup_name), profile_(mean_bytes, symbols, std::move(cgroup_name)) {}

std::string TopAccount::name_in(TopView view, const HeapSite& site) const {
  switch (view) {
    case TopView::call_sites: return site.call_site == 0 ? "unknown" : symbols_.name(site.call_site);
    case TopView::processes: return process_text(site.context, site.comm, site.process);
    case TopView::cgroups: return cgroup_name_(site.cgroup);
    case TopView::caches:
    case TopView::orders: return cache_text(site.cache, site.pages, site.bytes_each);
    case TopView::stacks: break;
  }
  return {};
}

void TopAccount::add(Rows& rows, std::string name, const HeapSite& site) {
  if (rows.size() >= kMostRows && !rows.contains(name)) {
    name = kOthers;
    ++rows_merged_;
  }
  Sums& sums = rows[std::move(name)];
  sums.events_now += site.events;
  sums.bytes_now += site.allocated;
  sums.events += site.events;
  sums.failed += site.failed;
  sums.requested += site.requested;
  sums.allocated += site.allocated;
}

void TopAccount::add_interval(const std::vector<HeapSite>& sites, std::uint64_t interval_ns) {
  interval_ns_ = interval_ns;
  slab_ = pages_ = {};
  for (Rows& rows : rows_)
    for (auto& [name, sums] : rows) sums.events_now = sums.bytes_now = 0;
  for (const HeapSite& site : sites) {
    TopTotals& totals = site.pages ? pages_ : slab_;
    totals.events_now += site.events;
    totals.bytes_now += site.allocated;
    for (const TopViewInfo& info : top_views())
      if (shows(info.view, site)) add(rows_[static_cast<std::size_t>(info.view)], name_in(info.view, site), site);
  }
}

TopResult TopAccount::result(TopView view) const {
  TopResult result;
  result.view = view;
  result.interval_ns = interval_ns_;
  result.rows_merged = rows_merged_;
  const HeapProfileResult samples = profile_.result({key_of(view)});
  result.slab = slab_;
  result.slab.live_bytes = samples.slab.live_bytes;
  result.pages = pages_;
  result.pages.live_bytes = samples.pages.live_bytes;

  const auto is_shown = [view](const HeapRow& row) {
    return view == TopView::orders ? row.pages : view == TopView::processes || view == TopView::cgroups || !row.pages;
  };
  if (view == TopView::stacks) {
    for (const HeapRow& row : samples.rows)
      if (is_shown(row)) result.rows.push_back(row_of_stack(row));
    return result;
  }
  std::unordered_map<std::string_view, Estimate> live;
  for (const HeapRow& row : samples.rows) {
    if (!is_shown(row)) continue;
    // Slab and pages of a process are two rows of the profile.
    Estimate& sum = live[row.keys[0]];
    sum.value += row.figures.live_bytes.value;
    sum.low += row.figures.live_bytes.low;
    sum.high += row.figures.live_bytes.high;
  }
  for (const auto& [name, sums] : rows_[static_cast<std::size_t>(view)]) {
    TopRow row;
    row.name = name;
    row.events_now = sums.events_now;
    row.bytes_now = sums.bytes_now;
    row.events = sums.events;
    row.failed = sums.failed;
    row.requested = sums.requested;
    row.allocated = sums.allocated;
    if (const auto found = live.find(name); found != live.end()) row.live_bytes = found->second;
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::vector<TopRow> TopAccount::stacks_of(TopView view, const std::string& name) const {
  std::vector<TopRow> stacks;
  for (const HeapRow& row : profile_.result({key_of(view), HeapKey::stack}).rows)
    if (row.keys[0] == name) stacks.push_back(row_of_stack(row));
  sort_rows(stacks, TopColumn::allocated);
  return stacks;
}

}  // namespace kmt
