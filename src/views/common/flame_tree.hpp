// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks with common beginnings as a tree of functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlameSum {
  std::uint64_t value = 0;
  std::uint64_t samples = 0;  // that it is of
};

struct FlameNode {
  Allocator allocator = Allocator::slab;
  bool of_user = false;  // a program's function, not the kernel's
  FlameSum own;          // of all that is below, too
  FlameSum base;         // the same, of the trace that is compared with
  // By name: stacks of two traces lie at the same places.
  std::map<std::string, FlameNode> children;
};

// Adds a profile's samples to `own`, or to `base`. The allocator comes first in any case.
void add_to_tree(FlameNode& root, const StackProfile& profile, StackMetric metric, bool callers_first, bool to_base);

}  // namespace kmt
