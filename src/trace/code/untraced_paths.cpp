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

constexpr std::array kProbes = {
    FunctionProbe{kBulkAllocFunction, "alloc_bulk"},       FunctionProbe{kBulkFreeFunction, "free_bulk"},
    FunctionProbe{kRcuFreeFunction, "free_rcu"},           FunctionProbe{kRcuNolockFreeFunction, "free_rcu_nolock"},
    FunctionProbe{kNolockAllocFunction, "alloc_nolock"},   FunctionProbe{kOldNolockAllocFunction, "alloc_nolock"},
    FunctionProbe{kNolockFreeFunction, "free_nolock"},     FunctionProbe{kBulkPagesFunction, "alloc_pages_bulk"},
    FunctionProbe{kPageRangeFunction, "alloc_page_range"}, FunctionProbe{kOldPageRangeFunction, "alloc_page_range"},
};

constexpr const char* kReceive =
    "the network receive path frees socket buffers (sk_buff) in bulk, and keeps some for reuse (napi_skb_cache)";

constexpr bool kOfPages = true;

// The table of paths. Sources for objects: mm/slub.c and the callers of its bulk functions, Linux 4.3 to 7.3. Sources
// for pages: mm/page_alloc.c and mm/compaction.c, Linux 6.1 to 7.3.
constexpr std::array kPaths = {
    UntracedPath{"skbuff_head_cache", "*alloc_skb*", {4, 6}, kToday, kFrees, kReceive, kBulkFreeFunction},
    UntracedPath{"skbuff_head_cache", "*build_skb*", {4, 6}, kToday, kFrees, kReceive, kBulkFreeFunction},
    UntracedPath{"skbuff_head_cache", "skb_clone*", {4, 6}, kToday, kFrees, kReceive, kBulkFreeFunction},
    UntracedPath{"skbuff_head_cache",
                 "napi_*",
                 {5, 13},
                 kToday,
                 kAllocates,
                 "the network receive path allocates socket buffers (sk_buff) in bulk (napi_skb_cache_get)",
                 kBulkAllocFunction},
    UntracedPath{"maple_node",
                 "mas_*",
                 {6, 1},
                 kToday,
                 kFrees,
                 "maple trees free nodes in bulk (mt_free_bulk)",
                 kBulkFreeFunction},
    UntracedPath{"maple_node",
                 "mas_*",
                 {6, 18},
                 kToday,
                 kFrees,
                 "maple trees free nodes by kfree_rcu(), which collects them in sheaves",
                 kRcuFreeFunction},
    UntracedPath{"maple_node",
                 "mas_*",
                 {6, 1},
                 {6, 17},
                 kAllocates,
                 "maple trees allocate nodes in bulk (mt_alloc_bulk)",
                 kBulkAllocFunction},
    UntracedPath{"io_kiocb", "io_*", {5, 1}, {5, 15}, kFrees, "io_uring frees requests in bulk", kBulkFreeFunction},
    UntracedPath{
        "io_kiocb", "io_*", {5, 1}, kToday, kAllocates, "io_uring allocates requests in bulk", kBulkAllocFunction},
    UntracedPath{"",
                 "",
                 {4, 3},
                 kToday,
                 kFrees,
                 "kmem_cache_free_bulk() and kfree_bulk() have no tracepoint",
                 kBulkFreeFunction},
    UntracedPath{"",
                 "",
                 {5, 7},
                 kToday,
                 kFrees,
                 "kfree_rcu() frees kmalloc objects in bulk, without an event for each object",
                 kRcuFreeFunction},
    UntracedPath{"",
                 "",
                 {7, 0},
                 kToday,
                 kFrees,
                 "kfree_rcu() collects objects of all caches in sheaves, without an event for each object",
                 kRcuFreeFunction},
    UntracedPath{
        "", "", {7, 3}, kToday, kFrees, "kfree_rcu_nolock() collects objects in sheaves", kRcuNolockFreeFunction},
    UntracedPath{"", "", {6, 18}, kToday, kFrees, "kfree_nolock() has no tracepoint", kNolockFreeFunction},
    UntracedPath{"", "", {4, 3}, kToday, kAllocates, "kmem_cache_alloc_bulk() has no tracepoint", kBulkAllocFunction},
    UntracedPath{"", "", {6, 18}, kToday, kAllocates, "kmalloc_nolock() has no tracepoint", kNolockAllocFunction},
    UntracedPath{"",
                 "",
                 {5, 13},
                 kToday,
                 kAllocates,
                 "alloc_pages_bulk() takes pages from a CPU's list, for vmalloc (kernel stacks, modules), network "
                 "drivers, NFS, btrfs and XFS",
                 kBulkPagesFunction,
                 kOfPages},
    UntracedPath{"",
                 "",
                 {4, 3},
                 kToday,
                 kAllocates,
                 "alloc_contig_range() takes ranges of pages, for CMA and for huge pages of 1 GiB",
                 kPageRangeFunction,
                 kOfPages},
    UntracedPath{
        "", "", {4, 3}, kToday, kAllocates, "compaction takes free pages, and moves other pages there", "", kOfPages},
};

bool applies(const UntracedPath& path, const std::optional<KernelVersion>& kernel) {
  if (!kernel) return path.until == kToday;
  return path.from <= *kernel && (path.until == kToday || *kernel <= path.until);
}

}  // namespace

std::span<const UntracedPath> untraced_paths() { return kPaths; }

std::span<const FunctionProbe> function_probes() { return kProbes; }

const UntracedPath* untraced_free_of(const std::string& cache, const std::string& call_site,
                                     const std::optional<KernelVersion>& kernel,
                                     std::span<const std::string_view> probed) {
  for (const UntracedPath& path : kPaths) {
    if (!path.frees || path.cache.empty() || !applies(path, kernel)) continue;
    if (std::ranges::find(probed, path.probe) != probed.end()) continue;
    // It is enough if the cache or the call site matches, because only one name is shown for caches that SLUB has
    // merged.
    if (glob_match(std::string(path.cache), cache) || glob_match(std::string(path.call_site), call_site)) return &path;
  }
  return nullptr;
}

bool allocates_untraced(const std::string& cache, const std::optional<KernelVersion>& kernel,
                        std::span<const std::string_view> probed) {
  return std::ranges::any_of(kPaths, [&](const UntracedPath& path) {
    return !path.frees && !path.cache.empty() && applies(path, kernel) && glob_match(std::string(path.cache), cache) &&
           std::ranges::find(probed, path.probe) == probed.end();
  });
}

}  // namespace kmt
