// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/untraced_paths.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kmt {

namespace {

constexpr bool kFrees = true;
constexpr bool kAllocates = false;
constexpr KernelVersion kToday{};

// Sources: mm/slub.c and the users of its bulk functions, Linux 4.3 to 6.18.
constexpr std::array kPaths = {
    UntracedPath{"skbuff_head_cache",
                 "*alloc_skb*",
                 {4, 6},
                 kToday,
                 kFrees,
                 "network receive frees heads of packets in bulk, and keeps some for reuse (napi_skb_cache)"},
    UntracedPath{"skbuff_head_cache",
                 "*build_skb*",
                 {4, 6},
                 kToday,
                 kFrees,
                 "network receive frees heads of packets in bulk, and keeps some for reuse (napi_skb_cache)"},
    UntracedPath{"skbuff_head_cache",
                 "skb_clone*",
                 {4, 6},
                 kToday,
                 kFrees,
                 "network receive frees heads of packets in bulk, and keeps some for reuse (napi_skb_cache)"},
    UntracedPath{"skbuff_head_cache",
                 "napi_*",
                 {5, 13},
                 kToday,
                 kAllocates,
                 "network receive takes heads of packets in bulk (napi_skb_cache_get)"},
    UntracedPath{"maple_node", "mas_*", {6, 1}, kToday, kFrees, "maple trees free nodes in bulk (mt_free_bulk)"},
    UntracedPath{"maple_node", "mas_*", {6, 1}, kToday, kAllocates, "maple trees take nodes in bulk (mt_alloc_bulk)"},
    UntracedPath{"io_kiocb", "io_*", {5, 1}, {5, 15}, kFrees, "io_uring frees requests in bulk"},
    UntracedPath{"io_kiocb", "io_*", {5, 1}, kToday, kAllocates, "io_uring takes requests in bulk"},
    UntracedPath{"", "", {4, 3}, kToday, kFrees, "kmem_cache_free_bulk() and kfree_bulk() have no tracepoint"},
    UntracedPath{
        "", "", {5, 7}, kToday, kFrees, "kfree_rcu() frees kmalloc objects in bulk, without an event for each"},
    UntracedPath{"", "", {4, 3}, kToday, kAllocates, "kmem_cache_alloc_bulk() has no tracepoint"},
};

bool applies(const UntracedPath& path, const std::optional<KernelVersion>& kernel) {
  if (!kernel) return path.until == kToday;
  return path.from <= *kernel && (path.until == kToday || *kernel <= path.until);
}

}  // namespace

std::span<const UntracedPath> untraced_paths() { return kPaths; }

const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel) {
  for (const UntracedPath& path : kPaths) {
    if (!path.frees || path.cache.empty() || !applies(path, kernel)) continue;
    // It suffices if the cache or the call site matches: SLUB may have merged caches, and the name of the merged cache
    // may be that of another one.
    if (glob_match(std::string(path.cache), cache) || glob_match(std::string(path.call_site), call_site)) return &path;
  }
  return nullptr;
}

bool allocates_untraced(const std::string& cache, const std::optional<KernelVersion>& kernel) {
  return std::ranges::any_of(kPaths, [&](const UntracedPath& path) {
    return !path.frees && !path.cache.empty() && applies(path, kernel) && glob_match(std::string(path.cache), cache);
  });
}

}  // namespace kmt
