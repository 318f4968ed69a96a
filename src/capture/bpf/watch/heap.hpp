// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the running kernel's allocations in the kernel: samples that are followed until they are freed, exact sums by
// call site, or both. Memory is always bounded; events beyond the limits are counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "capture/bpf/program_clock.hpp"
#include "capture/bpf/selection.hpp"
#include "capture/features/events.hpp"
#include "trace/state/heap_sample.hpp"

namespace kmt {

struct HeapRequest {
  BpfSelection selection;
  bool slab = true;
  bool pages = false;
  bool no_movable_pages = false;  // of pages: excludes users' memory and the page cache
  bool sites = false;             // exact sums
  std::uint64_t mean_bytes = 0;   // mean number of allocated bytes per sample; 0: no samples
  std::uint32_t most_followed = 65536;
  std::uint64_t ring_bytes = 4 << 20;  // a power of two
  // Limit of all tables together, but a table of each CPU and event has at least 64 sites.
  std::uint64_t site_bytes = 32 << 20;
};

struct HeapHooks {
  std::function<void(const HeapSample&)> sampled;
  std::function<void(const HeapSampleEnd&)> ended;
};

class HeapWatcher {
 public:
  // Loads and attaches: watching has begun when it returns. Throws Error.
  HeapWatcher(const HeapRequest& request, HeapHooks hooks);
  ~HeapWatcher();
  HeapWatcher(HeapWatcher&&) noexcept;

  // Passes on new samples; call it several times per second. Throws Error.
  void drain();
  // Returns the sums since the last call.
  std::vector<HeapSite> take_sites();
  HeapLosses losses() const;
  // True if a sampled object still lives, by the kernel's own table; needed if ends were lost.
  bool is_followed(std::uint64_t pointer);
  // Returns the runs of its programs at memory events, or at one ("kfree"), counted while a ProgramClock exists. Throws
  // Error.
  ProgramRuns runs(std::string_view event = {}) const;
  // Returns bytes of kernel memory in use, and of these, those directly from the page allocator.
  std::uint64_t memory() const;
  std::uint64_t ring_bytes() const;
  // Requested events that this kernel lacks.
  const std::vector<EventName>& missing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
