// SPDX-License-Identifier: GPL-2.0-or-later
// Frees of slab objects from before a trace, next to how many lived when it began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

struct OlderObjects {
  std::string cache;        // empty: freed by kfree, which names none, or the kernel's frees name none at all
  std::uint64_t frees = 0;  // of objects that were allocated before the trace
  // Objects of the cache when the trace began; empty: its first sample does not tell. Without alloc_traces of the cache
  // it is slabinfo's number, which may be too high: it has the free objects of the CPUs' slabs.
  std::optional<std::uint64_t> lived;
  bool exact = false;  // of alloc_traces
};

struct OlderObjectsOfTrace {
  std::vector<OlderObjects> caches;    // with frees, most frees first
  std::optional<std::uint64_t> lived;  // of all caches
};

}  // namespace kmt
