// SPDX-License-Identifier: GPL-2.0-or-later
// Kernel paths that free or allocate objects or pages without a tracepoint. An object freed on such a path looks as if
// it was never freed. An object allocated on such a path looks older than the trace. docs/untraced-paths.md contains
// the same table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "trace/kernel_release.hpp"

namespace kmt {

// The functions that kmemtrace probes to record frees and allocations on these paths.
// Before Linux 6.10, the name of kmem_cache_alloc_bulk has no suffix, and a probe at its return cannot read the array.
constexpr std::string_view kBulkAllocFunction = "kmem_cache_alloc_bulk_noprof";
// Allocates pages. Before Linux 6.10, its name is __alloc_pages_bulk.
constexpr std::string_view kBulkPagesFunction = "alloc_pages_bulk_noprof";
// Allocates a range of page frames. In kernels that have it, alloc_contig_range_noprof() calls it.
constexpr std::string_view kPageRangeFunction = "alloc_contig_frozen_range_noprof";
constexpr std::string_view kOldPageRangeFunction = "alloc_contig_range_noprof";
// Probing this function also covers kfree_bulk(), which is inline.
constexpr std::string_view kBulkFreeFunction = "kmem_cache_free_bulk";
constexpr std::string_view kRcuFreeFunction = "kvfree_call_rcu";
constexpr std::string_view kRcuNolockFreeFunction = "kfree_call_rcu_nolock";
constexpr std::string_view kNolockAllocFunction = "_kmalloc_nolock_noprof";
// Name of _kmalloc_nolock_noprof() in Linux 6.18.
constexpr std::string_view kOldNolockAllocFunction = "kmalloc_nolock_noprof";
constexpr std::string_view kNolockFreeFunction = "kfree_nolock";

// A probed function, and the event that the probe records. The event belongs to the system `kmemtrace`.
struct FunctionProbe {
  std::string_view function;
  std::string_view event;
};
std::span<const FunctionProbe> function_probes();

struct UntracedPath {
  // Glob for the name of the cache; empty: any cache. Look-ups skip a path with an empty glob, so a free on that path
  // is noticed only when the address is allocated again.
  std::string_view cache;
  std::string_view call_site;  // glob for the function that allocates; empty: any
  KernelVersion from;          // first kernel version with the path
  KernelVersion until;         // last kernel version with the path; 0.0: the path still exists
  bool frees;                  // true: the path frees objects; false: it allocates objects
  std::string_view sentence;
  std::string_view probe;  // the function whose probe records this path; empty: no probe records it
  bool of_pages = false;   // true: the path allocates or frees pages of the page allocator; false: slab objects
};

std::span<const UntracedPath> untraced_paths();

// Returns an untraced path that may have freed objects of a cache or call site, or null if the table contains none.
// `cache` is empty if unknown. A matching call site is enough, because merged caches share one name. If the kernel
// version is unknown, the paths of the latest kernel are used. Paths through one of the `probed` functions are ignored,
// because the trace contains their frees.
const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel,
                                     std::span<const std::string_view> probed = {});

// True if the table has a path that allocates objects of this cache without an event. Paths through one of the `probed`
// functions are ignored.
bool allocates_untraced(const std::string& cache, const std::optional<KernelVersion>& kernel,
                        std::span<const std::string_view> probed = {});

}  // namespace kmt
