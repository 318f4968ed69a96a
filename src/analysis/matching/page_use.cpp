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

// Functions in mm/filemap.c, mm/readahead.c and fs/buffer.c of Linux 2.6.31 to 7.0. They allocate pages for files of
// file systems themselves and for block devices; these pages are not movable.
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

// Since Linux 6.10, allocation functions have the suffix _noprof. Macros with the old names account the memory to their
// callers.
std::string_view without_noprof(std::string_view function) {
  constexpr std::string_view kEnding = "_noprof";
  if (function.ends_with(kEnding)) function.remove_suffix(kEnding.size());
  return function;
}

PageUse use_by(std::string_view function) {
  const auto is_of = [function](const auto& functions) {
    return std::ranges::find(functions, function) != std::end(functions);
  };
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
    if (use == PageUse::unknown) use = use_by(function);
    if (use != PageUse::unknown && use != PageUse::slab) return use;
  }
  return use;
}

PageUse page_use_of(std::span<const std::uint64_t> stack, const SymbolNames& symbols) {
  std::vector<std::string> names;
  names.reserve(stack.size());
  for (const std::uint64_t frame : stack) names.push_back(symbols.name(frame));
  return page_use_of(names);
}

PageCacheFlags page_cache_flags(const std::vector<FlagName>& names) {
  const auto bits_of = [&names](std::string_view name) {
    const auto found = std::ranges::find(names, name, &FlagName::name);
    return found == names.end() ? 0 : found->bits;
  };
  const std::uint64_t of_users = bits_of("__GFP_HARDWALL");
  const std::uint64_t may_use_file_systems = bits_of("__GFP_FS");
  if (of_users == 0 || may_use_file_systems == 0) return {};
  return {of_users, may_use_file_systems | bits_of("__GFP_ZERO") | bits_of("__GFP_ACCOUNT")};
}

}  // namespace kmt
