// SPDX-License-Identifier: GPL-2.0-or-later
// Draws a report by stack as a static SVG image. In a browser it can also be searched and zoomed.
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlamegraphOptions {
  StackMetric metric = StackMetric::allocated;
  bool callers_first = false;        // true: the allocator is on top; false: the outermost frame is at the bottom
  std::string title;                 // empty: the trace's name
  bool lacks_stacks_of_one = false;  // true: the comparison is by call site, since only one trace has stacks
};

struct Flamegraph {
  std::string svg;
  std::uint64_t frames = 0;    // frames drawn
  std::uint64_t left_out = 0;  // number of smallest frames left out if there are too many; they appear as gaps
};

// Widths are shares of the sum of all allocators, exact to a millionth of a pixel. Percentages refer only to the
// frame's own allocator: slabs are made of pages, so values of different allocators are never added. If `base` is not
// null, colours show growth and shrinkage since `base`.
Flamegraph flamegraph(const StackProfile& profile, const StackProfile* base, const FlamegraphOptions& options);

}  // namespace kmt
