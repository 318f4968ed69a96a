// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel paths that free or allocate objects without a tracepoint. Objects freed there look as if they were never
// freed. Objects allocated there look older than the trace. docs/untraced-paths.md contains the same table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/kernel_release.hpp"

namespace kmt {

struct UntracedPath {
  std::string_view cache;      // glob; empty: any cache. Such a path is noticed only when an address is allocated again
  std::string_view call_site;  // glob for the function; empty: any
  KernelVersion from;          // first affected version
  KernelVersion until;         // last affected version; 0.0: still affected
  bool frees;                  // false: the path allocates
  std::string_view sentence;
};

std::span<const UntracedPath> untraced_paths();

// Returns the path that may have freed objects of a cache or call site, or null if the table has none. `cache` is empty
// if unknown. A matching call site is enough, because merged caches share one name. Unknown versions are treated as the
// latest kernel.
const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel);

// True if the table has a path that allocates objects of this cache without an event.
bool allocates_untraced(const std::string& cache, const std::optional<KernelVersion>& kernel);

}  // namespace kmt
