// SPDX-License-Identifier: GPL-2.0-or-later
// Watches the running kernel's allocations from inside: samples that are followed until they are freed, exact sums by
// site, or both. Memory is bounded, whatever happens; what does not fit is counted.
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
  bool no_movable_pages = false;  // of pages: none of users' memory and the page cache
  bool sites = false;             // exact sums
  std::uint64_t mean_bytes = 0;   // one sample each so many allocated bytes on average; 0: none
  std::uint32_t most_followed = 65536;
  std::uint64_t ring_bytes = 4 << 20;  // a power of two
  // Of all tables together, at most; but a table of each CPU and event has 64 sites at least.
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

  // Hands over the samples that have come: to be called several times a second. Throws Error.
  void drain();
  // The sums since the last call.
  std::vector<HeapSite> take_sites();
  HeapLosses losses() const;
  // Whether a sampled object still lives, by the kernel's own table; to be asked where ends were lost.
  bool is_followed(std::uint64_t pointer);
  // Of its programs at memory events, or at one ("kfree"); counted while a ProgramClock is. Throws Error.
  ProgramRuns runs(std::string_view event = {}) const;
  // Kernel memory that it takes, in bytes; of it, what is taken straight from the page allocator.
  std::uint64_t memory() const;
  std::uint64_t ring_bytes() const;
  // Of what was asked for.
  const std::vector<EventName>& missing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt
