// SPDX-License-Identifier: GPL-2.0-or-later
// Slab objects allocated before a trace: how many were live at its start, and how many of them were freed during the
// trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct OlderObjects {
  // Name of the cache; empty: the free events lack a cache name (kfree, or all frees of this kernel).
  std::string cache;
  std::uint64_t frees = 0;  // number of frees of objects from before the trace
  // Number of objects in the cache at the start of the trace. Empty if the trace's first sample of the kernel's files
  // lacks the cache. The number is from alloc_traces or, without that file, from slabinfo. It may be too high in
  // slabinfo, which counts free objects in per-CPU slabs as used.
  std::optional<std::uint64_t> lived;
  bool exact = false;  // true: `lived` is from alloc_traces
};

struct OlderObjectsOfTrace {
  std::vector<OlderObjects> caches;  // caches whose older objects were freed in the trace, most frees first
  // Number of objects from before the trace that were live at its start, in all caches; empty if unknown.
  std::optional<std::uint64_t> lived;
};

}  // namespace kmt
