// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/heap_watch.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/support/confined.hpp"
#include "results/heap/cache_counts.hpp"

namespace kmt {

namespace {

// Mean number of bytes between samples. The live bytes and the stacks of rows are computed from samples.
constexpr std::uint64_t kMeanBytes = 256 << 10;
constexpr std::uint64_t kShortestInterval = 100'000'000;  // ns

HeapRequest request_of(const HeapWatchRequest& wanted) {
  HeapRequest request;
  request.selection = wanted.selection;
  request.pages = true;
  request.no_movable_pages = wanted.pages == WatchedPages::kernel;
  request.sites = true;
  request.caches = std::ranges::find(wanted.views, TopView::net) != wanted.views.end();
  request.probes = wanted.probes;
  request.mean_bytes = kMeanBytes;
  return request;
}

std::vector<TopView> views_without_bpf(std::vector<TopView> views) {
  std::erase_if(views, needs_bpf);
  return views;
}

}  // namespace

std::chrono::nanoseconds parse_watch_interval(const std::string& text) {
  const std::uint64_t interval = parse_duration(text);
  if (interval < kShortestInterval)
    throw Error("--interval must be at least 100ms, because shorter intervals would distort the result");
  return std::chrono::nanoseconds(interval);
}

HeapWatch::HeapWatch(HeapWatchRequest request)
    : request_(std::move(request)),
      opened_(open_site_counting(request_.backend, request_of(request_),
                                 {[this](const HeapSample& sample) { account_.samples().add(sample); },
                                  [this](const HeapSampleEnd& end) { account_.samples().end(end); }})),
      account_(has_samples() ? request_.views : views_without_bpf(request_.views), has_samples() ? kMeanBytes : 0,
               kernel_.symbols(), [this](std::uint64_t id) { return kernel_.cgroup_name(id); }) {
  caches_.counting = watcher().read_caches().counting;
  if (caches_.counting == CacheCounting::counted && request_.selection_text.empty()) slabs_.emplace();
  keep_watching();
  if (slabs_) first_slabs_ = slabs_->read();
}

bool HeapWatch::turn(bool is_last) {
  watcher().drain();
  const Clock::time_point now = Clock::now();
  if (now < begin_ + request_.interval && !is_last) return false;
  const auto lasted = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - begin_).count());
  begin_ = now;
  const std::uint64_t cpu = own_cpu_ns();
  own_cpu_ = static_cast<double>(cpu - cpu_ns_) / static_cast<double>(lasted);
  cpu_ns_ = cpu;
  if (kernel_.refresh()) account_.samples().names_changed();
  account_.add_interval(watcher().take_sites(), lasted);
  CacheCounts caches = watcher().read_caches();
  caches_now_ = difference(caches_, caches);
  caches_ = std::move(caches);
  losses_ = watcher().losses();
  if (losses_.ends > ends_lost_) {
    account_.samples().reconcile([this](std::uint64_t pointer) { return watcher().is_followed(pointer); });
    ends_lost_ = losses_.ends;
  }
  elapsed_ns_ = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - start_).count());
  return true;
}

TopResult HeapWatch::result(TopView view) const {
  TopResult result = account_.result(view);
  result.backend = opened_.backend;
  result.selection = request_.selection_text;
  result.elapsed_ns = elapsed_ns_;
  result.losses = losses_;
  result.memory = watcher().kernel_memory();
  result.own_cpu = own_cpu_;
  if (view != TopView::net) return result;
  CacheCounts caches = caches_;
  if (slabs_) compare_with_slabinfo(caches, first_slabs_, slabs_->read());
  result.rows = rows_of_caches(caches, caches_now_);
  result.counting = caches.counting;
  result.uncounted = caches.uncounted;
  return result;
}

}  // namespace kmt
