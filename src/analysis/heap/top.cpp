// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/heap/top.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "analysis/heap/names.hpp"
#include "analysis/matching/own_interrupt.hpp"

namespace kmt {

namespace {

bool shows(TopView view, const HeapSite& site) {
  switch (view) {
    case TopView::stacks:
    case TopView::net: return false;
    case TopView::orders: return site.pages;
    case TopView::call_sites:
    case TopView::caches:
    case TopView::modules:
    case TopView::subsystems:
    case TopView::directories: return !site.pages;
    case TopView::processes:
    case TopView::cgroups: return true;
  }
  return false;
}

// Returns the key by which a view groups samples.
HeapKey key_of(TopView view) {
  switch (view) {
    case TopView::call_sites:
    case TopView::modules:
    case TopView::subsystems:
    case TopView::directories: return HeapKey::call_site;  // owner_of() finds the owner by the name of the call site
    case TopView::stacks: return HeapKey::stack;
    case TopView::processes: return HeapKey::process;
    case TopView::cgroups: return HeapKey::cgroup;
    case TopView::caches:
    case TopView::net:
    case TopView::orders: break;  // cache_text() also shows the order of pages: "pages of 16.0 KiB"
  }
  return HeapKey::cache;
}

// Returns the kind of code owner that the view's rows stand for. Empty for other rows.
std::optional<HeapKey> owner_of(TopView view) {
  switch (view) {
    case TopView::modules: return HeapKey::module;
    case TopView::subsystems: return HeapKey::subsystem;
    case TopView::directories: return HeapKey::directory;
    default: return std::nullopt;
  }
}

// Returns the view whose rows are counted. The rows of owners are sums of rows of call sites.
TopView counted_view(TopView view) { return owner_of(view) ? TopView::call_sites : view; }

bool has_slab_and_pages(TopView view) { return view == TopView::processes || view == TopView::cgroups; }

// True if the view shows samples of this kind: slab objects, pages, or both. A view that shows both
// omits user memory, and pages that contain slab objects, because the objects are counted.
bool shows(TopView view, const HeapRow& row) {
  if (has_slab_and_pages(view)) return !row.slab_pages && !row.user_pages;
  return row.pages == (view == TopView::orders);
}

// False for interrupts, and for idle tasks, which all have process ID 0.
bool is_process(const HeapSite& site) { return site.context == AllocationContext::task && site.process != 0; }

// Limits an estimate of live bytes to the bytes that the row allocated, because live memory is a part of the allocated
// memory.
void limit_live(TopRow& row) {
  if (!row.live_bytes) return;
  const auto most = static_cast<double>(row.allocated);
  for (double* const part : {&row.live_bytes->value, &row.live_bytes->low, &row.live_bytes->high})
    *part = std::min(*part, most);
}

// For each row, estimates the share of its pages that neither contain slab objects nor belong to user memory. The exact
// sums do not distinguish these pages from others, but the samples do.
class SharesOfPages {
 public:
  explicit SharesOfPages(const HeapProfileResult& samples) : one_sample_(static_cast<double>(samples.mean_bytes)) {
    for (const HeapRow& row : samples.rows)
      if (row.pages)
        for (Bytes* const bytes : {&all_, &of_row_[row.keys[0]]}) bytes->add(row);
  }

  // Returns the `bytes` of a row's pages without those pages that other rows or columns count. If the row has few
  // samples, the share is close to that of all rows.
  std::uint64_t counted(const std::string& row, std::uint64_t bytes) const {
    if (all_.all <= 0) return bytes;
    const double share = all_.counted / all_.all;
    const auto found = of_row_.find(row);
    const Bytes own = found == of_row_.end() ? Bytes{} : found->second;
    const double of_row = (own.counted + share * one_sample_) / (own.all + one_sample_);
    return std::min(bytes, rounded(static_cast<double>(bytes) * of_row));
  }

 private:
  struct Bytes {
    double all = 0, counted = 0;
    void add(const HeapRow& row) {
      all += row.figures.bytes.value;
      if (!row.slab_pages && !row.user_pages) counted += row.figures.bytes.value;
    }
  };
  double one_sample_;  // bytes that one sample represents
  Bytes all_;
  std::unordered_map<std::string, Bytes> of_row_;
};

std::vector<TopView> counted_views(const std::vector<TopView>& views) {
  std::vector<TopView> counted;
  for (const TopView view : views)
    if (std::ranges::find(counted, counted_view(view)) == counted.end()) counted.push_back(counted_view(view));
  return counted;
}

// Adds the counts and live bytes of a row to another row.
void add_row(const TopRow& from, TopRow& to) {
  to.events_now += from.events_now;
  to.bytes_now += from.bytes_now;
  to.events += from.events;
  to.failed += from.failed;
  to.requested += from.requested;
  to.allocated += from.allocated;
  if (!from.live_bytes) return;
  Estimate& live = to.live_bytes ? *to.live_bytes : to.live_bytes.emplace();
  live.value += from.live_bytes->value;
  live.low += from.live_bytes->low;
  live.high += from.live_bytes->high;
}

// Returns a row of estimates from samples, because stacks are not counted exactly.
TopRow row_of_stack(const HeapRow& from) {
  TopRow row;
  row.stack = from.stack;
  row.events = rounded(from.figures.objects.value);
  row.requested = rounded(from.figures.requested.value);
  row.allocated = rounded(from.figures.bytes.value);
  row.live_bytes = from.figures.live_bytes;
  return row;
}

}  // namespace

TopAccount::TopAccount(std::vector<TopView> views, std::uint64_t mean_bytes, const SymbolNames& symbols,
                       std::function<std::string(std::uint64_t)> cgroup_name)
    : views_(counted_views(views)),
      symbols_(symbols),
      cgroup_name_(cgroup_name),
      has_samples_(mean_bytes > 0),
      profile_(std::max<std::uint64_t>(mean_bytes, 1), symbols, std::move(cgroup_name)) {}

std::string TopAccount::key_in(TopView view, const HeapSite& site) const {
  switch (view) {
    case TopView::call_sites: return site.call_site == 0 ? kUnknownCode : symbols_.name(site.call_site);
    case TopView::processes:
      return is_process(site) ? std::to_string(site.process) : process_text(site.context, site.comm, site.process);
    case TopView::cgroups:
      return site.context == AllocationContext::task ? cgroup_name_(site.cgroup) : task_text(site.context, {});
    case TopView::caches:
    case TopView::orders: return cache_text(site.cache, site.pages, site.bytes_each);
    case TopView::modules:
    case TopView::subsystems:
    case TopView::directories:
    case TopView::stacks:
    case TopView::net: break;
  }
  return {};
}

// Returns the name of the row to which a view adds call sites or samples. `key` is their value of the key from
// key_of().
std::string TopAccount::row_name(TopView view, const std::string& key) const {
  const std::optional<HeapKey> owner = owner_of(view);
  return owner && key != kUnknownCode && key != kOthers ? profile_.owner_text(*owner, key) : key;
}

// Adds the live bytes of samples to the rows. A process may have two rows in the profile: one for slab objects and one
// for pages. Samples that match no row are added to the row "[others]".
void TopAccount::add_live(std::vector<TopRow>& rows, const std::unordered_map<std::string, std::size_t>& places,
                          const HeapProfileResult& samples, TopView view) const {
  const auto others = places.find(kOthers);
  for (const HeapRow& from : samples.rows) {
    if (!shows(view, from)) continue;
    auto at = places.find(from.keys[0]);
    if (at == places.end()) at = others;
    if (at == places.end()) continue;
    std::optional<Estimate>& live = rows[at->second].live_bytes;
    if (!live) live.emplace();
    live->value += from.figures.live_bytes.value;
    live->low += from.figures.live_bytes.low;
    live->high += from.figures.live_bytes.high;
  }
}

// Returns the caller and the function that called it, "CALLER < FUNCTION", because many stacks may have the same
// caller.
std::string TopAccount::name_of_stack(const HeapRow& row) const {
  std::string name = row.keys.back();
  for (std::size_t i = 0; i + 1 < row.stack.size(); ++i)
    if (symbols_.name(row.stack[i]) == name) return name + " < " + symbols_.name(row.stack[i + 1]);
  return name;
}

void TopAccount::Sums::add(const Sums& more) {
  events_now += more.events_now;
  bytes_now += more.bytes_now;
  events += more.events;
  failed += more.failed;
  requested += more.requested;
  allocated += more.allocated;
  page_bytes_now += more.page_bytes_now;
  page_bytes += more.page_bytes;
  interval = std::max(interval, more.interval);
}

// Makes room for new rows. Merges the rows that have been idle for longest into "[others]", at least a quarter of all
// rows.
void TopAccount::fold_oldest(Rows& rows) {
  std::vector<std::uint64_t> intervals;
  intervals.reserve(rows.size());
  for (const auto& [name, sums] : rows) intervals.push_back(sums.interval);
  const auto quarter = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 4);
  std::ranges::nth_element(intervals, quarter);
  const std::uint64_t last = std::min(*quarter, interval_ - 1);  // never merge rows of the current interval
  Sums folded;
  rows_merged_ += std::erase_if(rows, [&](const auto& row) {
    const bool is_old = row.second.interval <= last && row.first != kOthers;
    if (is_old) folded.add(row.second);
    return is_old;
  });
  if (folded.events > 0) rows[kOthers].add(folded);
}

void TopAccount::add(TopView view, const HeapSite& site) {
  Rows& rows = rows_[static_cast<std::size_t>(view)];
  std::string name = key_in(view, site);
  if (rows.size() >= kMostRows && !rows.contains(name)) {
    name = kOthers;
    ++rows_merged_;
  }
  const bool has_process = view == TopView::processes && is_process(site) && name != kOthers;
  Sums& sums = rows[std::move(name)];
  if (has_process && sums.process == 0) {
    sums.process = site.process;
    sums.comm = site.comm;
  }
  const std::uint64_t of_pages = site.pages && has_slab_and_pages(view) ? site.allocated : 0;
  sums.add({site.events,
            site.allocated,
            site.events,
            site.failed,
            site.requested,
            site.allocated,
            of_pages,
            of_pages,
            interval_,
            0,
            {}});
}

// Sets the names of processes without samples in this interval. If a process changed its name in the interval, its
// sites have both names. The name that differs from the known name is the newer one.
void TopAccount::name_processes(const std::vector<HeapSite>& sites) {
  std::unordered_set<std::uint32_t> renamed;
  for (const HeapSite& site : sites) {
    if (!is_process(site) || renamed.contains(site.process)) continue;
    const std::string name = process_text(site.context, site.comm, site.process);
    if (profile_.process_name(site.context, {}, site.process) == name) continue;
    profile_.name_process(site.process, site.comm);
    renamed.insert(site.process);
  }
  profile_.begin_naming_interval();
}

void TopAccount::add_interval(std::vector<HeapSite> sites, std::uint64_t interval_ns) {
  for (HeapSite& site : sites)
    if (site.context == AllocationContext::hardirq && is_for_interrupted_task({&site.call_site, 1}, symbols_))
      site.context = AllocationContext::task;
  ++interval_;
  interval_ns_ = interval_ns;
  slab_ = pages_ = {};
  for (Rows& rows : rows_) {
    for (auto& [name, sums] : rows) sums.events_now = sums.bytes_now = sums.page_bytes_now = 0;
    if (rows.size() >= kMostRows * 3 / 4) fold_oldest(rows);
  }
  name_processes(sites);
  for (const HeapSite& site : sites) {
    TopTotals& totals = site.pages ? pages_ : slab_;
    totals.events_now += site.events;
    totals.bytes_now += site.allocated;
    for (const TopView view : views_)
      if (shows(view, site)) add(view, site);
  }
}

// Adds up the rows of call sites by owner, so that the sums of both views are equal.
TopResult TopAccount::result_of_owners(TopView view) const {
  TopResult result = this->result(TopView::call_sites);
  result.view = view;
  const std::vector<TopRow> sites = std::exchange(result.rows, {});
  std::unordered_map<std::string, std::size_t> places;
  for (const TopRow& site : sites) {
    std::string name = row_name(view, site.name);
    const auto [at, is_new] = places.try_emplace(name, result.rows.size());
    if (is_new) result.rows.emplace_back().name = std::move(name);
    add_row(site, result.rows[at->second]);
  }
  return result;
}

TopResult TopAccount::result(TopView view) const {
  if (owner_of(view)) return result_of_owners(view);
  TopResult result;
  result.view = view;
  result.interval_ns = interval_ns_;
  result.rows_merged = rows_merged_;
  const HeapProfileResult samples = profile_.result({key_of(view)});
  result.replaced = samples.replaced;
  result.slab = slab_;
  result.pages = pages_;
  if (has_samples_) {
    result.slab.live_bytes = samples.slab.live_bytes;
    result.pages.live_bytes = samples.pages.live_bytes;
  }

  if (view == TopView::stacks) {
    for (const HeapRow& row : samples.rows) {
      if (!shows(view, row)) continue;
      result.rows.push_back(row_of_stack(row));
      result.rows.back().name = name_of_stack(row);
    }
    return result;
  }
  const Rows& rows = rows_[static_cast<std::size_t>(view)];
  const SharesOfPages shares(samples);
  std::unordered_map<std::string, std::size_t> places;
  for (const auto& [key, sums] : rows) {
    TopRow row;
    row.name = sums.process == 0 ? key : profile_.process_name(AllocationContext::task, sums.comm, sums.process);
    row.process = sums.process;
    row.events_now = sums.events_now;
    row.bytes_now = sums.bytes_now - sums.page_bytes_now + shares.counted(row.name, sums.page_bytes_now);
    row.events = sums.events;
    row.failed = sums.failed;
    const std::uint64_t not_counted = sums.page_bytes - shares.counted(row.name, sums.page_bytes);
    row.requested = sums.requested - std::min(not_counted, sums.requested);
    row.allocated = sums.allocated - not_counted;
    places[row.name] = result.rows.size();
    result.rows.push_back(std::move(row));
  }
  add_live(result.rows, places, samples, view);
  // Merged rows lose their exact sums, but their samples remain.
  if (rows_merged_ == 0)
    for (TopRow& row : result.rows) limit_live(row);
  return result;
}

std::unordered_map<std::string, std::vector<TopRow>> TopAccount::stacks(TopView view) const {
  std::unordered_map<std::string, std::vector<TopRow>> stacks;
  for (const HeapRow& row : profile_.result({key_of(view), HeapKey::stack}).rows)
    if (shows(view, row))
      stacks[view == TopView::stacks ? name_of_stack(row) : row_name(view, row.keys[0])].push_back(row_of_stack(row));
  for (auto& [name, rows] : stacks) sort_rows(rows, TopColumn::allocated);
  return stacks;
}

}  // namespace kmt
