// SPDX-License-Identifier: GPL-2.0-or-later
// Slab objects from before a trace: how many were live at its start, and how many of them the trace frees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct OlderObjects {
  std::string cache;        // empty: free events without a cache name (kfree, or all frees of this kernel)
  std::uint64_t frees = 0;  // number of frees of objects from before the trace
  // Number of objects in the cache at the start of the trace. Empty: the first sample does not contain it. If the cache
  // has no alloc_traces, this is the number in slabinfo. It may be too high, because slabinfo counts free objects in
  // per-CPU slabs as used.
  std::optional<std::uint64_t> lived;
  bool exact = false;  // true: `lived` is from alloc_traces
};

struct OlderObjectsOfTrace {
  std::vector<OlderObjects> caches;    // caches that had frees of objects from before the trace, most frees first
  std::optional<std::uint64_t> lived;  // number of objects from before the trace in all caches; empty if unknown
};

}  // namespace kmt
