// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/object_words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace kmt {

std::string words_of(const WordTarget& target) {
  switch (target.kind) {
    case WordTarget::Kind::list: return "list";
    case WordTarget::Kind::itself: return "itself";
    case WordTarget::Kind::text: return "text";
    case WordTarget::Kind::object:
      return target.offset == 0 ? "object of " + target.name
                                : fmt::format("object of {}, at {}", target.name, target.offset);
    case WordTarget::Kind::symbol:
      return target.module.empty() ? target.name : fmt::format("{} [{}]", target.name, target.module);
    case WordTarget::Kind::none: break;
  }
  return "nothing known";
}

std::string name_of(const SlabKind& kind) {
  if (kind.module_source == ModuleSource::list) return "in list " + kind.symbol;
  if (kind.module_source == ModuleSource::neighbour) return "points to object with " + kind.symbol;
  if (!kind.symbol.empty()) return kind.symbol;
  if (kind.members.empty()) return "no pointers in common";
  constexpr std::size_t kMost = 3;
  std::string name;
  for (std::size_t i = 0; i < std::min(kind.members.size(), kMost); ++i)
    name += fmt::format("{}{} at {}", i > 0 ? ", " : "", words_of(kind.members[i].target), kind.members[i].offset);
  return name;
}

std::vector<std::string> notes_of(const CacheKinds& cache, ReadingEnd end) {
  std::vector<std::string> notes;
  if (end == ReadingEnd::most_bytes)
    notes.emplace_back("The limit of --most-bytes stopped the reading. Raise it for a larger sample.");
  if (end == ReadingEnd::stopped) notes.emplace_back("The reading stopped before it had the whole sample.");
  if (cache.searched < 1)
    notes.push_back(
        fmt::format("The search covered {:.0f}% of the page frames, in random order.", 100 * cache.searched));
  if (!cache.knows_all_slots)
    notes.emplace_back("Without /proc/slabinfo, the objects in the searched part of memory stand for all.");
  if (!cache.knows_cpu_lists)
    notes.emplace_back(
        "Some free objects that CPUs keep for their next allocations could not be read. They may count as live.");
  const std::uint64_t all = cache.slabs_read + cache.slabs_changed + cache.slabs_unreadable + cache.slabs_damaged;
  if (cache.slabs_changed > 0)
    notes.push_back(fmt::format("{} of {} slabs changed while they were read.", cache.slabs_changed, all));
  if (cache.slabs_unreadable > 0)
    notes.push_back(fmt::format("{} of {} slabs could not be read.", cache.slabs_unreadable, all));
  if (cache.slabs_damaged > 0)
    notes.push_back(fmt::format(
        "In {} of {} slabs, the list of free objects contradicts the slab's counters. Code may have overwritten "
        "free objects; boot with slab_debug=FZP to find it.",
        cache.slabs_damaged, all));
  return notes;
}

}  // namespace kmt
