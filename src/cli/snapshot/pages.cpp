// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/snapshot/pages.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/snapshot/page_census.hpp"
#include "analysis/snapshot/page_counter.hpp"
#include "base/error.hpp"
#include "cli/input/reading.hpp"
#include "cli/support/interrupt.hpp"
#include "cli/support/kernel_memory.hpp"
#include "reading/mixed_blocks.hpp"
#include "snapshot/frames/frames.hpp"
#include "snapshot/parse.hpp"

namespace kmt {

namespace {

void add_notes(const FrameFiles& files, PageCensus& census) {
  if (!files.knows_ram())
    census.notes.emplace_back(
        "/proc/iomem does not show the addresses of RAM. Holes between them may count as other kernel pages.");
  if (!files.has_cgroups())
    census.notes.emplace_back(
        "The cgroups of the pages are unknown, because /proc/kpagecgroup needs a kernel with CONFIG_MEMCG.");
  if (!census.pageblocks.order_is_known)
    census.notes.emplace_back("The size of a pageblock is assumed, because /proc/pagetypeinfo cannot be read.");
}

void add_caches(const std::vector<MixedBlock>& blocks, CachesInBlocks& caches) {
  if (blocks.empty()) return;
  try {
    caches = caches_of(blocks, memory_without_kcore());
  } catch (const Error& error) {
    caches.failure = error.what();
    if (!error.hint().empty()) caches.failure += ". " + error.hint();
  }
}

}  // namespace

std::optional<PageCensus> count_pages(const StateSample& sample, std::uint32_t page_size, bool with_caches) {
  constexpr unsigned kDefaultOrder = 9;  // x86 and ARM64 with 4 KiB pages
  const auto start = std::chrono::steady_clock::now();
  const std::optional<unsigned> order = pageblock_order(text_of(sample, "pagetypeinfo"));
  FrameFiles files(page_size);
  PageCounter counter(order.value_or(kDefaultOrder), largest_free_order(parse_snapshot(sample, page_size)));
  const InterruptGuard guard;
  ReadingProgress progress(true);
  std::uint64_t done = 0;
  files.read([&](const FrameWords& words) {
    counter.add(words.first, words.flags, words.cgroups);
    done += words.flags.size();
    if (files.frames() != 0)
      progress.update("Counting page frames", static_cast<double>(done) / static_cast<double>(files.frames()));
    return !guard.interrupted();
  });
  progress.clear();
  if (guard.interrupted()) return std::nullopt;
  PageCensus census = counter.finish();
  census.pageblocks.order_is_known = order.has_value();
  if (!files.has_cgroups()) census.cgroups.clear();
  name_cgroups(cgroup_paths_by_inode(), census);
  add_notes(files, census);
  if (with_caches) add_caches(counter.take_mixed_blocks(), census.pageblocks.caches);
  census.elapsed_ns =
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  return census;
}

}  // namespace kmt
