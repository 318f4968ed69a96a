// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises anomalies that are explained by known kernel paths without tracepoints.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/code/symbol_names.hpp"
#include "trace/kernel_release.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Returns the functions whose probes recorded events of the trace.
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

 private:
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  std::optional<KernelVersion> version_;
  std::vector<std::string_view> probed_;
  bool leaves_out_recorder_;
  // Cached results. The key is the cache and the call site.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> frees_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> allocations_;
};

}  // namespace kmt
