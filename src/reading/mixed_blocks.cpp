// SPDX-License-Identifier: GPL-2.0-or-later
#include "reading/mixed_blocks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include <linux/capability.h>

#include "base/arithmetic/size.hpp"
#include "base/confinement/privileges.hpp"
#include "reading/live_slabs.hpp"
#include "snapshot/objects/sample.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kMostBytes = 64 << 20;

// Adds the pages of the slabs by cache. Returns the number of pages whose cache is unknown.
std::uint64_t add_slabs(Slabs& slabs, const MixedBlock& block, std::map<std::string, std::uint64_t>& pages) {
  std::uint64_t unknown = 0;
  for (const MixedBlock::Slab& slab : block.slabs) {
    const auto head = slabs.head(slab.frame);
    if (head)
      pages[slabs.cache_at(head->cache)->name] += slab.pages;
    else
      unknown += slab.pages;
  }
  return unknown;
}

}  // namespace

CachesInBlocks caches_of(const std::vector<MixedBlock>& blocks, std::unique_ptr<KernelReader> memory) {
  LiveSlabs kernel(std::move(memory), kMostBytes);
  give_up_capabilities(std::array<unsigned, 1>{CAP_SYS_RAWIO});
  CachesInBlocks result;
  result.source = kernel.has_kcore() ? SlabSource::kcore : SlabSource::bpf;
  std::map<std::string, CacheInBlocks> rows;
  // The order is random, so that the blocks are from everywhere in memory if the limit of bytes is reached.
  for (const std::uint64_t number : shuffled(blocks.size())) {
    const MixedBlock& block = blocks[to_size(number)];
    std::map<std::string, std::uint64_t> pages;
    const std::uint64_t unknown = add_slabs(kernel.slabs(), block, pages);
    if (kernel.memory().is_exhausted()) break;
    ++result.blocks;
    result.unknown += unknown;
    const bool is_alone = pages.size() == 1 && unknown == 0 && !block.has_other;
    for (const auto& [cache, count] : pages) {
      CacheInBlocks& row = rows[cache];
      row.cache = cache;
      row.pages += count;
      ++row.blocks;
      if (is_alone) ++row.alone;
    }
  }
  for (auto& [cache, row] : rows) result.rows.push_back(std::move(row));
  std::ranges::stable_sort(result.rows, [](const CacheInBlocks& a, const CacheInBlocks& b) {
    return a.blocks != b.blocks ? a.blocks > b.blocks : a.pages > b.pages;
  });
  return result;
}

}  // namespace kmt
