// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/slab_account.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "trace/code/function_name.hpp"
#include "trace/state/reclaimable_memory.hpp"

namespace kmt {

namespace {

template <typename Globs>
bool is_any_of(const std::string& text, const Globs& globs) {
  return std::ranges::any_of(globs, [&text](const char* glob) { return glob_match(glob, text); });
}

}  // namespace

bool is_reclaimable_cache(const std::string& cache, const std::string& function) {
  return is_any_of(cache, kReclaimableCaches) || is_any_of(function, kReclaimableFunctions);
}

bool is_shrinkable(const std::string& cache, const std::string& function) {
  return is_reclaimable_cache(cache, function) || is_any_of(cache, kShrinkableCaches) ||
         is_any_of(function, kShrinkableFunctions);
}

std::string_view only_cache_of(std::string_view function) {
  // fs/file_table.c and kernel/fork.c, Linux 5.10 to 6.18
  constexpr std::pair<std::string_view, std::string_view> kCaches[] = {{"__alloc_file", "filp"},
                                                                       {"alloc_empty_file", "filp"},
                                                                       {"vm_area_alloc", "vm_area_struct"},
                                                                       {"vm_area_dup", "vm_area_struct"}};
  const auto* const known = std::ranges::find(kCaches, function, &std::pair<std::string_view, std::string_view>::first);
  return known == std::end(kCaches) ? std::string_view() : known->second;
}

bool is_shrinkable_site(std::string_view symbol) { return is_shrinkable({}, std::string(function_of(symbol))); }

}  // namespace kmt
