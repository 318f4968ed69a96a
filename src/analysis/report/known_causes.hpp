// SPDX-License-Identifier: GPL-2.0-or-later
// Recognises anomalies that known kernel paths without tracepoints cause.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "trace/code/symbol_names.hpp"
#include "trace/kernel_release.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class KnownCauses {
 public:
  // Both arguments must outlive this object.
  KnownCauses(const TraceInfo& info, const SymbolNames& symbols);

  // True if the kernel may free objects of this cache (CacheId) and call site without an event.
  bool may_free(std::uint32_t cache, CallSiteId call_site);
  // True if an object that is freed again was allocated without an event: on a known path, or by the recorder, whose
  // allocations are left out although RCU frees such objects later in other tasks.
  bool may_have_allocated(std::uint32_t cache, CallSiteId free_site);

 private:
  const TraceInfo& info_;
  const SymbolNames& symbols_;
  std::optional<KernelVersion> version_;
  bool leaves_out_recorder_;
  // Results by cache and call site.
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> frees_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> allocations_;
};

}  // namespace kmt
