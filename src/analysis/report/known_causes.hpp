// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises anomalies that are explained by known kernel paths without tracepoints.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/code/symbol_names.hpp"
#include "trace/event.hpp"
#include "trace/kernel_release.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Returns those functions for which the trace contains events of kmemtrace's probes.
std::vector<std::string_view> probed_functions(const TraceInfo& info);

class KnownCauses {
 public:
  // Both arguments must outlive this object.
  KnownCauses(const TraceInfo& info, const SymbolNames& symbols);

  // True if the kernel may free objects of this cache (a CacheId) and call site without an event.
  bool may_free(std::uint32_t cache, CallSiteId call_site);
  // True if an object that is freed a second time may have been allocated without an event in between, either on a
  // known path or by the recorder. Allocations by the recorder are not recorded, but RCU frees some of these objects
  // later in other tasks.
  bool may_have_allocated(std::uint32_t cache, CallSiteId free_site);

  // Call this function if the address of a live object was allocated again. The arguments describe the first
  // allocation.
  void add_reuse(Allocator allocator, std::uint32_t cache, CallSiteId call_site) {
    reused_.emplace(allocator, cache, call_site.value);
  }
  // True if the number of live objects of this cache and call site is an upper bound. A known path may have freed some
  // of them without an event, or addresses of such objects were allocated again without a free. Call this after all
  // calls of add_reuse().
  bool live_is_upper_bound(Allocator allocator, std::uint32_t cache, CallSiteId call_site, bool from_cache) {
    if (reused_.contains({allocator, cache, call_site.value})) return true;
    return allocator == Allocator::slab && from_cache && may_free(cache, call_site);
  }

 private:
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  std::optional<KernelVersion> version_;
  std::vector<std::string_view> probed_;
  bool leaves_out_recorder_;
  // Cached results. The key is the cache and the call site.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> frees_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> allocations_;
  std::set<std::tuple<Allocator, std::uint32_t, std::uint32_t>> reused_;  // key: allocator, cache and call site
};

}  // namespace kmt
