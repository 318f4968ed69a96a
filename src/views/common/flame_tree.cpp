// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/flame_tree.hpp"

#include <algorithm>
#include <limits>

namespace kmt {

void add_to_tree(FlameNode& root, const StackProfile& profile, StackMetric metric, bool callers_first, bool to_base) {
  for (const StackSample& sample : profile.samples) {
    const std::uint64_t value = sample.value(metric);
    if (value == 0) continue;
    FlameNode* node = &root;
    const auto add = [&](FlameNode& to) {
      FlameSum& sum = to_base ? to.base : to.own;
      sum.value += std::min(value, std::numeric_limits<std::uint64_t>::max() - sum.value);
      ++sum.samples;
    };
    const auto enter = [&](std::uint32_t frame) {
      node = &node->children[profile.frames[frame].function];
      node->allocator = sample.allocator;
      node->of_user = profile.frames[frame].of_user;
      add(*node);
    };
    add(root);
    enter(sample.frames.back());
    if (callers_first)
      for (std::size_t i = 0; i + 1 < sample.frames.size(); ++i) enter(sample.frames[i]);
    else
      for (std::size_t i = sample.frames.size() - 1; i-- > 0;) enter(sample.frames[i]);
  }
}

}  // namespace kmt
