// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that share outer frames, as a tree of functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlameSum {
  std::uint64_t value = 0;
  std::uint64_t samples = 0;
};

struct FlameNode {
  Allocator allocator = Allocator::slab;
  bool of_user = false;  // true: a function of a program; false: a kernel function
  FlameSum own;          // sum of this function and all its children
  FlameSum base;         // sum of the same function in the trace to compare with
  // key: name of the function, because the same function has different addresses in two traces
  std::map<std::string, FlameNode> children;
};

// Adds the samples of a profile to `own` or to `base` of the nodes. The allocator is always the outermost level.
void add_to_tree(FlameNode& root, const StackProfile& profile, StackMetric metric, bool callers_first, bool to_base);

}  // namespace kmt
