// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/slab_matcher.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kmt {

// If the table contains too many freed pointers, removes the older half of them.
void SlabMatcher::make_room(Table& table) {
  // at least a tenth of the table, because each removal visits the whole table
  const std::size_t most = std::max(kRememberedFrees >> kTableBits, table.objects.size() / 10);
  if (table.objects.size() - table.live < most) return;
  std::vector<std::uint64_t> times;
  table.objects.for_each([&times](std::uint64_t, const SlabObject& object) {
    if (!object.live()) times.push_back(object.time_ns);
  });
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  table.objects.retain(
      [oldest = *middle](std::uint64_t, const SlabObject& object) { return object.live() || object.time_ns > oldest; });
}

}  // namespace kmt
