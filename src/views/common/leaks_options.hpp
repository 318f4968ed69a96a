// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON leak results: which part to show, and in which order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "results/report/leaks.hpp"

namespace kmt {

enum class StacksShown : std::uint8_t { growing, all, none };

struct LeaksOptions {
  const Column<LeakRow>* sort = find_leak_column("verdict");
  std::size_t limit = 20;  // most groups per table; 0: all
  bool filtered = false;   // true: filters select a part of the trace
  // Text only.
  bool is_brief = true;  // about a page: few groups that do not grow, and few stacks
  StacksShown stacks = StacksShown::growing;

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

}  // namespace kmt
