// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/page_use.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "analysis/matching/slab_account.hpp"
#include "trace/code/function_name.hpp"

namespace kmt {

namespace {

// Functions in mm/filemap.c, mm/readahead.c and fs/buffer.c of Linux 2.6.31 to 7.0. They allocate pages for block
// devices and for files that file systems use internally; these pages are not movable.
constexpr std::string_view kOfPageCache[] = {
    "__filemap_get_folio",     "__filemap_get_folio_mpol", "filemap_alloc_folio",      "pagecache_get_page",
    "__page_cache_alloc",      "find_or_create_page",      "grow_dev_folio",           "grow_dev_page",
    "page_cache_ra_unbounded", "page_cache_ra_order",      "__do_page_cache_readahead"};
// Functions in mm/mempolicy.c, mm/memory.c, mm/huge_memory.c and mm/shmem.c, Linux 2.6.31 to 7.0.
constexpr std::string_view kOfUsers[] = {"alloc_pages_vma",   "vma_alloc_folio",  "folio_alloc_mpol",
                                         "shmem_alloc_folio", "shmem_alloc_page", "vma_alloc_anon_folio_pmd",
                                         "alloc_anon_folio",  "wp_page_copy",     "do_huge_pmd_anonymous_page"};
// Functions in mm/ and arch/.
constexpr std::string_view kOfPageTables[] = {"pte_alloc_one", "__pte_alloc", "__pmd_alloc", "__pud_alloc",
                                              "__p4d_alloc",   "pgd_alloc",   "_pgd_alloc",  "do_anonymous_page"};
// Functions in mm/slub.c, mm/slab.c and mm/slab_common.c. Compilers inline some of them into others.
constexpr std::string_view kOfSlabs[] = {"alloc_slab_page",       "allocate_slab",        "new_slab",
                                         "___slab_alloc",         "refill_objects",       "kmem_getpages",
                                         "cache_grow_begin",      "cache_grow",           "kmalloc_order",
                                         "___kmalloc_large_node", "__kmalloc_large_node", "kmalloc_large_node"};
constexpr std::string_view kOfVmalloc[] = {"__vmalloc_area_node", "__vmalloc_node_range"};
// Functions in kernel/fork.c.
constexpr std::string_view kOfTaskStacks[] = {"alloc_thread_stack_node", "dup_task_struct", "copy_process"};

// Returns the name without the suffix _noprof, which allocation functions have since Linux 6.10. Macros with the old
// names account the memory to their callers.
std::string_view without_noprof(std::string_view function) {
  constexpr std::string_view kEnding = "_noprof";
  if (function.ends_with(kEnding)) function.remove_suffix(kEnding.size());
  return function;
}

bool is_one_of(const auto& functions, std::string_view function) {
  return std::ranges::find(functions, function) != std::end(functions);
}

PageUse use_by(std::string_view function) {
  const auto is_of = [function](const auto& functions) { return is_one_of(functions, function); };
  if (is_of(kOfSlabs)) return PageUse::slab;
  if (is_of(kOfPageTables)) return PageUse::page_table;
  if (is_of(kOfPageCache)) return PageUse::page_cache;
  if (is_of(kOfUsers)) return PageUse::user;
  return is_of(kOfVmalloc) ? PageUse::vmalloc : PageUse::unknown;
}

}  // namespace

PageUse page_use_of(std::span<const std::string> stack) {
  PageUse use = PageUse::unknown;
  for (const std::string& frame : stack) {
    const std::string function(without_noprof(function_of(frame)));
    if (use == PageUse::slab && is_shrinkable_site(function)) return PageUse::reclaimable_slab;
    if (use == PageUse::vmalloc && is_one_of(kOfTaskStacks, function)) return PageUse::task_stack;
    if (use == PageUse::unknown) use = use_by(function);
    if (use != PageUse::unknown && use != PageUse::slab && use != PageUse::vmalloc) return use;
  }
  return use;
}

PageUse page_use_of(std::span<const std::uint64_t> stack, const SymbolNames& symbols) {
  std::vector<std::string> names;
  names.reserve(stack.size());
  for (const std::uint64_t frame : stack) names.push_back(symbols.name(frame));
  return page_use_of(names);
}

PageUseFlags::PageUseFlags(const std::vector<FlagName>& names) {
  const auto bits_of = [&names](std::string_view name) {
    const auto found = std::ranges::find(names, name, &FlagName::name);
    return found == names.end() ? 0 : found->bits;
  };
  if (bits_of("__GFP_FS") == 0) return;
  hardwall_ = bits_of("__GFP_HARDWALL");
  fs_ = bits_of("__GFP_FS");
  io_ = bits_of("__GFP_IO");
  zero_ = bits_of("__GFP_ZERO");
  account_ = bits_of("__GFP_ACCOUNT");
  comp_ = bits_of("__GFP_COMP");
  no_warn_ = bits_of("__GFP_NOWARN");
  no_retry_ = bits_of("__GFP_NORETRY");
  no_memalloc_ = bits_of("__GFP_NOMEMALLOC");
  high_memory_ = bits_of("__GFP_HIGHMEM");
  movable_ = bits_of("__GFP_MOVABLE");
  direct_reclaim_ = bits_of("__GFP_DIRECT_RECLAIM");
  kswapd_ = bits_of("__GFP_KSWAPD_RECLAIM");
}

// True for flags of page cache. grow_dev_folio() in fs/buffer.c and file systems whose mappings use GFP_NOFS allocate
// page cache without __GFP_FS, but with __GFP_HARDWALL, which the kernel sets for user memory (Linux 2.6.31 to
// 7.0). __filemap_get_folio() clears all flags of GFP_KERNEL if it must not wait; folio_alloc() adds __GFP_COMP (Linux
// 6.6 to 7.0).
bool PageUseFlags::are_of_page_cache(std::uint32_t gfp_flags, unsigned order) const {
  if (hardwall_ == 0) return false;
  if ((gfp_flags & (hardwall_ | fs_ | zero_ | account_)) == hardwall_) return true;
  const std::uint64_t rest = gfp_flags & ~no_warn_;
  return order == 0 && comp_ != 0 && kswapd_ != 0 && rest == (kswapd_ | comp_);
}

// True for flags of slab pages. allocate_slab() in mm/slub.c removes all flags that are not about reclaim, and adds
// __GFP_NOWARN and __GFP_NORETRY. If a smaller order is possible, it does not wait: it adds __GFP_NOMEMALLOC and
// removes the reclaim flags (Linux 4.4 to 7.2). Two kinds of buffers have similar flags: buffers of sockets
// (skb_page_frag_refill()) lack __GFP_NOMEMALLOC, and buffers of network devices (page_frag_cache) wake kswapd.
bool PageUseFlags::are_of_slab(std::uint32_t gfp_flags, unsigned order) const {
  if (no_warn_ == 0 || no_retry_ == 0 || no_memalloc_ == 0 || direct_reclaim_ == 0 || kswapd_ == 0) return false;
  const std::uint64_t of_slab = no_warn_ | no_retry_ | (order > 0 ? comp_ : 0);
  if ((gfp_flags & (of_slab | zero_ | account_ | high_memory_ | movable_)) != of_slab) return false;
  if ((gfp_flags & no_memalloc_) != 0) return (gfp_flags & (direct_reclaim_ | kswapd_)) == 0;
  return (gfp_flags & direct_reclaim_) != 0 || (gfp_flags & io_) == 0;
}

// True for flags of page tables. pagetable_alloc() in mm/ has GFP_PGTABLE_USER and __GFP_COMP (Linux 6.5 to 7.2). Large
// kmallocs may have the same flags, but at least order 2.
bool PageUseFlags::are_of_page_table(std::uint32_t gfp_flags, unsigned order) const {
  if (account_ == 0 || comp_ == 0 || zero_ == 0 || direct_reclaim_ == 0) return false;
  return order <= 1 && gfp_flags == (direct_reclaim_ | kswapd_ | io_ | fs_ | account_ | zero_ | comp_);
}

PageUse page_use_of(const PageUseFlags& flags, std::uint32_t gfp_flags, unsigned order) {
  if (flags.are_of_page_cache(gfp_flags, order)) return PageUse::page_cache;
  if (flags.are_of_slab(gfp_flags, order)) return PageUse::slab;
  return flags.are_of_page_table(gfp_flags, order) ? PageUse::page_table : PageUse::unknown;
}

}  // namespace kmt
