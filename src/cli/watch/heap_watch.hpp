// SPDX-License-Identifier: GPL-2.0-or-later
// Reports the allocations of the running kernel per interval, for `top` and `serve`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/heap/top.hpp"
#include "capture/bpf/watch/heap.hpp"
#include "capture/bpf/watch/kernel_caches.hpp"
#include "cli/support/live_kernel.hpp"
#include "cli/watch/counting_backend.hpp"

namespace kmt {

// The pages to watch. `kernel` excludes user memory and the page cache.
enum class WatchedPages { all, kernel };

struct HeapWatchRequest {
  std::string backend = "bpf";  // value of --backend
  BpfSelection selection;
  std::string selection_text;
  std::chrono::nanoseconds interval{};
  std::vector<TopView> views;
  WatchedPages pages = WatchedPages::kernel;
  bool probes = true;  // false with --no-probes
};

class HeapWatch {
 public:
  // Starts watching slab and page allocations. Throws Error.
  explicit HeapWatch(HeapWatchRequest request);
  HeapWatch(const HeapWatch&) = delete;
  HeapWatch& operator=(const HeapWatch&) = delete;

  const SymbolNames& symbols() const { return kernel_.symbols(); }
  const TopAccount& account() const { return account_; }

  // Reads new events. Call it several times per second. Returns true if an interval has ended, either because its time
  // is over or because `is_last` is set.
  bool turn(bool is_last = false);
  // Returns the result as it was at the end of the last interval.
  TopResult result(TopView view) const;
  // Returns the counts by slab cache since the start. They are only up to date if the view net is watched.
  const CacheCounts& caches() const { return caches_; }

 private:
  SiteCounting& watcher() const { return *opened_.counting; }
  bool has_samples() const { return opened_.backend == "bpf"; }

  using Clock = std::chrono::steady_clock;

  const HeapWatchRequest request_;
  LiveKernel kernel_;
  OpenedCounting<SiteCounting> opened_;
  TopAccount account_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point begin_ = start_;
  std::uint64_t elapsed_ns_ = 0;
  std::uint64_t cpu_ns_ = own_cpu_ns();
  double own_cpu_ = 0;
  HeapLosses losses_;
  CacheCounts caches_;  // since the start
  CacheCounts caches_now_;
  std::optional<KernelCaches> slabs_;  // empty if slabinfo is not comparable with the counts
  std::vector<SlabInfo> first_slabs_;
  std::uint64_t ends_lost_ = 0;
};

// Parses the value of --interval: "1s". Throws Error.
std::chrono::nanoseconds parse_watch_interval(const std::string& text);

}  // namespace kmt
