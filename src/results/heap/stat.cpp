// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/heap/stat.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "trace/state/slabinfo.hpp"

namespace kmt {

std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to) {
  for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
    to[i].events -= from[i].events;
    to[i].failed -= from[i].failed;
    to[i].requested -= from[i].requested;
    to[i].allocated -= from[i].allocated;
    to[i].missed -= from[i].missed;
  }
  return to;
}

std::vector<StatCache> difference(const std::vector<StatCache>& from, const std::vector<StatCache>& to) {
  std::vector<StatCache> caches;
  for (StatCache cache : to) {
    const auto before = std::ranges::find(from, cache.name, &StatCache::name);
    if (before != from.end()) {
      cache.allocations -= before->allocations;
      cache.frees -= before->frees;
    }
    if (cache.allocations + cache.frees > 0) caches.push_back(std::move(cache));
  }
  std::ranges::stable_sort(caches, std::ranges::greater(),
                           [](const StatCache& one) { return std::abs(one.net_bytes()); });
  return caches;
}

void compare_with_slabinfo(std::vector<StatCache>& caches, std::string_view from, std::string_view to) {
  const std::vector<SlabInfo> before = parse_slabinfo(from).caches, after = parse_slabinfo(to).caches;
  for (StatCache& cache : caches) {
    const auto first = std::ranges::find(before, cache.name, &SlabInfo::name);
    const auto last = std::ranges::find(after, cache.name, &SlabInfo::name);
    if (first != before.end() && last != after.end())
      cache.slabinfo_objects = static_cast<std::int64_t>(last->active_objects - first->active_objects);
  }
}

}  // namespace kmt
