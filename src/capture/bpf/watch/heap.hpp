// SPDX-License-Identifier: GPL-2.0-or-later
// Watches allocations inside the running kernel. Samples allocations and follows each sampled object until it is freed,
// computes exact sums for each call site, or does both. Memory is always bounded; events beyond the limits are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "capture/bpf/program_clock.hpp"
#include "capture/bpf/selection.hpp"
#include "capture/counting/counting.hpp"
#include "capture/features/events.hpp"
#include "trace/state/cache_counts.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

struct HeapRequest {
  BpfSelection selection;
  bool slab = true;
  bool pages = false;
  bool names_threads = false;     // true: samples have the name of the thread; false: the name of the process
  bool no_movable_pages = false;  // page events: exclude user memory and the page cache
  bool sites = false;             // true: compute exact sums for each call site
  bool caches = false;            // true: count the objects of each slab cache, if the kernel supports this
  bool probes = true;             // with `caches`: also count the objects of paths without a tracepoint
  std::uint64_t mean_bytes = 0;   // average number of allocated bytes per sample; 0: no samples
  std::uint32_t most_followed = 65536;
  std::uint64_t ring_bytes = 4 << 20;  // size of the ring buffer in bytes, a power of two
  // Limit for all tables together. A table of one CPU and event always has at least 64 sites.
  std::uint64_t site_bytes = 32 << 20;
};

struct HeapHooks {
  std::function<void(const HeapSample&)> sampled;
  std::function<void(const HeapSampleEnd&)> ended;
};

class HeapWatcher final : public SiteCounting {
 public:
  // Loads and attaches the programs. Watching has started when the constructor returns. Throws Error.
  HeapWatcher(const HeapRequest& request, HeapHooks hooks);
  ~HeapWatcher() override;
  HeapWatcher(HeapWatcher&&) noexcept;

  // Passes new samples, and frees of earlier samples, to the hooks. Call it several times per second. Throws Error.
  void drain() override;
  // Returns the sums since the last call.
  std::vector<HeapSite> take_sites() override;
  // Returns the counts of each slab cache since the start, sorted by name.
  CacheCounts read_caches() const override;
  HeapLosses losses() const override;
  // True if the kernel's table still has this sampled object. If reports of ends were lost, use this function to find
  // the objects that ended.
  bool is_followed(std::uint64_t pointer) override;
  // Returns how often and how long the programs ran: those for all memory events, or those for one event such as
  // "kfree". Runs are counted only while a ProgramClock exists. Throws Error.
  ProgramRuns runs(std::string_view event = {}) const;
  // memory() returns the bytes of kernel memory in use; ring_bytes() returns the part that is directly from the page
  // allocator.
  std::uint64_t memory() const;
  std::optional<std::uint64_t> kernel_memory() const override { return memory(); }
  std::uint64_t ring_bytes() const;
  // Returns the requested events that this kernel lacks.
  const std::vector<EventName>& missing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
