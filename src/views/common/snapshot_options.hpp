// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON snapshots: which part to show, and in which order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "results/snapshot/snapshot.hpp"

namespace kmt {

struct SnapshotOptions {
  // column by which slab caches are sorted; the default is the number of bytes that the cache holds
  const Column<SlabCacheUse>* sort = &slab_cache_columns()[1];
  std::size_t limit = 10;  // maximum number of rows per table; 0: all

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

// Returns the rows to show, largest first; equal rows keep their order. The pointers point into `rows`.
template <typename Row, typename Amount>
std::vector<const Row*> largest(const std::vector<Row>& rows, const SnapshotOptions& options, Amount&& amount) {
  std::vector<const Row*> sorted;
  sorted.reserve(rows.size());
  for (const Row& row : rows) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, [&](const Row* a, const Row* b) { return amount(*a) > amount(*b); });
  sorted.resize(options.shown(sorted.size()));
  return sorted;
}

// Sorts cgroups by kernel memory. If cgroup version 1 does not account kernel memory, sorts them by user memory.
inline std::vector<const CgroupMemory*> shown_cgroups(const SnapshotResult& result, const SnapshotOptions& options) {
  return largest(result.memory.cgroups, options, [](const CgroupMemory& cgroup) {
    return std::pair(kernel_bytes(cgroup).value_or(0), user_bytes(cgroup).value_or(0));
  });
}

// Sorts owners by how certainly their memory is unaccounted, then by bytes.
inline std::vector<const MemoryOwner*> shown_owners(const SnapshotResult& result, const SnapshotOptions& options) {
  return largest(result.memory.owners, options,
                 [](const MemoryOwner& owner) { return std::pair(-static_cast<int>(owner.place), owner.bytes); });
}

inline std::vector<const SlabCacheUse*> shown_caches(const SnapshotResult& result, const SnapshotOptions& options) {
  auto sorted = sorted_by_column(result.caches, *options.sort, [](const SlabCacheUse& a, const SlabCacheUse& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  sorted.resize(options.shown(sorted.size()));
  return sorted;
}

}  // namespace kmt
