// SPDX-License-Identifier: GPL-2.0-or-later
// Options of text and JSON leak results: which part to show, and in which order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "results/report/growth_gate.hpp"
#include "results/report/leaks.hpp"

namespace kmt {

enum class StacksShown : std::uint8_t { growing, all, none };

struct LeaksOptions {
  const Column<LeakRow>* sort = find_leak_column("verdict");
  std::size_t limit = 20;            // maximum number of groups per table; 0: all
  bool filtered = false;             // true: filters select only a part of the trace
  const GrowthGate* gate = nullptr;  // null without --max-growth
  // The following members affect only text output.
  bool is_brief = true;  // true: show about one page, with few stacks and few of the groups that do not grow
  StacksShown stacks = StacksShown::growing;

  std::size_t shown(std::size_t total) const { return limit == 0 ? total : std::min(limit, total); }
};

}  // namespace kmt
