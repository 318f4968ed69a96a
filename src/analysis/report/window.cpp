// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/report/window.hpp"

namespace kmt {

void WindowCounts::begin(std::uint64_t first_ns) {
  range_.from_ns = window_.from ? window_.from->on_clock(first_ns) : first_ns;
  if (window_.to) range_.to_ns = window_.to->on_clock(first_ns);
}

void WindowCounts::add(std::uint32_t group, const LiveCount& amount, std::uint64_t began_ns, std::uint64_t ended_ns) {
  if (began_ns >= range_.to_ns || ended_ns < range_.from_ns) return;
  const bool is_older = began_ns < range_.from_ns;
  const bool is_freed = ended_ns < range_.to_ns;
  if (groups_.size() <= group) groups_.resize(group + std::size_t{1});
  WindowClasses& classes = groups_[group];
  (is_older   ? is_freed ? classes.freed_older : classes.throughout
   : is_freed ? classes.freed_inside
              : classes.left_live) += amount;
}

}  // namespace kmt
