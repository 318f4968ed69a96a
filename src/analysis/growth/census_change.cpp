// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/growth/census_change.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace kmt {

namespace {

using PagesByName = std::map<std::string, std::uint64_t>;

PagesByName by_order(const PageCensus& census) {
  PagesByName pages;
  for (const PageKind kind : {PageKind::other, PageKind::unmarked})
    for (std::size_t order = 0; order < kPageOrders; ++order)
      pages[std::to_string(order)] += census.blocks[index_of(kind)][order] << order;
  return pages;
}

PagesByName by_flags(const PageCensus& census) {
  PagesByName pages;
  for (const PagesByFlags& one : census.other_flags) pages[names_of_page_flags(one.flags)] += one.pages;
  return pages;
}

PagesByName by_cgroup(const PageCensus& census) {
  PagesByName pages;
  for (const CgroupPages& one : census.cgroups) pages[one.path] += other_kernel_pages(one.pages);
  return pages;
}

std::vector<PagesChange> changes(const PagesByName& before, const PagesByName& after, std::uint64_t page_size) {
  std::map<std::string, PagesChange> rows;
  for (const auto& [name, pages] : before) rows[name].before = pages * page_size;
  for (const auto& [name, pages] : after) rows[name].after = pages * page_size;
  std::vector<PagesChange> changed;
  for (auto& [name, row] : rows) {
    row.name = name;
    if (row.before != row.after) changed.push_back(std::move(row));
  }
  std::ranges::stable_sort(changed, std::greater(), [](const PagesChange& row) {
    return static_cast<std::int64_t>(row.after) - static_cast<std::int64_t>(row.before);
  });
  return changed;
}

}  // namespace

CensusChange census_change(const PageCensus& before, const PageCensus& after, std::uint64_t page_size) {
  return {other_kernel_pages(before.pages) * page_size, other_kernel_pages(after.pages) * page_size,
          changes(by_order(before), by_order(after), page_size), changes(by_flags(before), by_flags(after), page_size),
          changes(by_cgroup(before), by_cgroup(after), page_size)};
}

}  // namespace kmt
