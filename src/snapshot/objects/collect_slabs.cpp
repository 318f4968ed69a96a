// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/objects/collect_slabs.hpp"

#include <algorithm>
#include <array>

#include "base/arithmetic/size.hpp"
#include "base/confinement/privileges.hpp"
#include "base/error.hpp"

namespace kmt {

namespace {

// Bits of a word of kpageflags (include/uapi/linux/kernel-page-flags.h).
constexpr std::uint64_t kSlab = std::uint64_t{1} << 7;
constexpr std::uint64_t kTail = std::uint64_t{1} << 16;

std::vector<FrameRange> chunks_of(const std::vector<FrameRange>& ranges) {
  std::vector<FrameRange> chunks;
  for (const FrameRange& range : ranges)
    for (std::uint64_t first = range.first; first < range.end;) {
      const std::uint64_t end = std::min(range.end, (first / kFramesOfChunk + 1) * kFramesOfChunk);
      chunks.push_back({first, end});
      first = end;
    }
  return chunks;
}

}  // namespace

std::vector<SlabCollection> collect_slabs(Slabs& slabs, FrameFiles& frames, std::span<const SlabCache* const> caches,
                                          std::size_t wanted, const std::function<bool(double)>& proceed) {
  if (!frames.knows_ram())
    throw Error("The addresses of the machine's memory are unknown", ExitCode::unsupported)
        .at({"/proc/iomem", {}, {}})
        .hint(hint_for_more_privileges());
  std::vector<SlabCollection> found(caches.size(), SlabCollection(wanted));
  const std::vector<FrameRange> chunks = chunks_of(frames.ranges());
  std::array<std::uint64_t, kFramesOfChunk> flags{};
  std::size_t done = 0;
  for (const std::uint64_t number : shuffled(chunks.size())) {
    const FrameRange& chunk = chunks[to_size(number)];
    const std::size_t count = frames.read_flags(chunk.first, std::span(flags).first(to_size(chunk.end - chunk.first)));
    std::vector<SlabsOfChunk> of_caches(caches.size());
    for (std::size_t i = 0; i < count; ++i) {
      if ((flags[i] & (kSlab | kTail)) != kSlab) continue;
      const auto head = slabs.head(chunk.first + i);
      const auto cache = head ? std::ranges::find(caches, head->cache, &SlabCache::address) : caches.end();
      if (cache != caches.end())
        of_caches[static_cast<std::size_t>(cache - caches.begin())].frames.push_back(chunk.first + i);
    }
    for (std::size_t i = 0; i < caches.size(); ++i) found[i].add(std::move(of_caches[i]));
    ++done;
    if (!proceed(static_cast<double>(done) / static_cast<double>(chunks.size()))) break;
    if (std::ranges::all_of(found, &SlabCollection::is_enough)) break;
  }
  return found;
}

}  // namespace kmt
