// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/slab_matcher.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kmt {

// Forgets the older half of the freed pointers, where they are many.
void SlabMatcher::make_room(Table& table) {
  constexpr std::size_t kRemembered = kRememberedFrees >> kTableBits;
  if (table.objects.size() - table.live < kRemembered) return;
  std::vector<std::uint64_t> times;
  table.objects.for_each([&times](std::uint64_t, const SlabObject& object) {
    if (!object.live) times.push_back(object.time_ns);
  });
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  table.objects.retain(
      [oldest = *middle](std::uint64_t, const SlabObject& object) { return object.live || object.time_ns > oldest; });
}

}  // namespace kmt
