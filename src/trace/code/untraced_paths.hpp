// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel paths that free or allocate objects without a tracepoint. An object freed on such a path looks as if it was
// never freed. An object allocated on such a path looks older than the trace. docs/untraced-paths.md contains the same
// table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/kernel_release.hpp"

namespace kmt {

struct UntracedPath {
  // Glob for the cache; empty: any cache. Frees on a path for any cache are only noticed when an address is allocated
  // again.
  std::string_view cache;
  std::string_view call_site;  // glob for the function that allocates; empty: any
  KernelVersion from;          // first kernel version with the path
  KernelVersion until;         // last kernel version with the path; 0.0: the path still exists
  bool frees;                  // true: the path frees objects; false: it allocates objects
  std::string_view sentence;
};

std::span<const UntracedPath> untraced_paths();

// Returns the path that may have freed objects of a cache or call site, or null if the table contains none. `cache` is
// empty if unknown. A matching call site is enough, because merged caches share one name. If the kernel version is
// unknown, the paths of the latest kernel are used.
const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel);

// True if the table has a path that allocates objects of this cache without an event.
bool allocates_untraced(const std::string& cache, const std::optional<KernelVersion>& kernel);

}  // namespace kmt
