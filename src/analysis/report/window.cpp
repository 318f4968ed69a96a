// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/window.hpp"

namespace kmt {

void WindowCounts::begin(std::uint64_t first_ns) {
  sums_.range = range_of(window_, first_ns);
  if (!window_.from) sums_.range.from_ns = first_ns;
}

void WindowCounts::add(Allocator allocator, std::uint32_t group, const LiveCount& amount, std::uint64_t began_ns,
                       std::uint64_t ended_ns) {
  const WindowRange& range = sums_.range;
  if (began_ns >= range.to_ns || ended_ns < range.from_ns) return;
  const bool is_freed = ended_ns < range.to_ns;
  const auto in_class = [&](WindowClasses& classes) -> LiveCount& {
    if (began_ns < range.from_ns) return is_freed ? classes.freed_older : classes.throughout;
    return is_freed ? classes.freed_inside : classes.left_live;
  };
  if (groups_.size() <= group) groups_.resize(group + std::size_t{1});
  in_class(groups_[group]) += amount;
  in_class(sums_.totals[static_cast<std::size_t>(allocator)]) += amount;
}

}  // namespace kmt
