// SPDX-License-Identifier: GPL-2.0-or-later
// Slab objects from before a trace: the number that were live at its start, and their frees in the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct OlderObjects {
  std::string cache;        // empty: the free events do not name a cache (kfree, or all frees of this kernel)
  std::uint64_t frees = 0;  // frees of objects allocated before the trace
  // Number of objects in the cache at the start of the trace; empty: unknown from its first sample. Without
  // alloc_traces of the cache, this is the number in slabinfo. It may be too high, since it includes free objects in
  // per-CPU slabs.
  std::optional<std::uint64_t> lived;
  bool exact = false;  // `lived` is from alloc_traces
};

struct OlderObjectsOfTrace {
  std::vector<OlderObjects> caches;    // caches with frees of older objects, most frees first
  std::optional<std::uint64_t> lived;  // sum over all caches
};

}  // namespace kmt
