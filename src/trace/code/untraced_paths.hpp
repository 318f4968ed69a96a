// SPDX-License-Identifier: GPL-2.0-or-later
// Paths of the kernel that free or allocate objects without a tracepoint. Objects freed there look never freed, those
// allocated there look older than the trace. docs/untraced-paths.md has the same table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/kernel_release.hpp"

namespace kmt {

struct UntracedPath {
  std::string_view cache;      // glob; empty: any; seen only by addresses that are allocated again
  std::string_view call_site;  // glob on the function; empty: as the cache
  KernelVersion from;          // the first one
  KernelVersion until;         // the last one; 0.0: today's
  bool frees;                  // false: allocations
  std::string_view sentence;
};

std::span<const UntracedPath> untraced_paths();

// The path that may have freed objects of that cache (empty: not known), or to that call site, as
// the kernel merges caches and their names with them; null when the table knows none. A kernel of unknown version is
// taken for today's.
const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel);

}  // namespace kmt
