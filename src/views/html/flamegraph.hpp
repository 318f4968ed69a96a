// SPDX-License-Identifier: GPL-2.0-or-later
// Draws a report by stack as an SVG image (a flame graph). In a browser, the image can also be searched and zoomed.
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlamegraphOptions {
  StackMetric metric = StackMetric::allocated;
  bool callers_first = false;        // true: from the innermost frame down; false: from the outermost frame up
  std::string title;                 // title of the image; if empty, the name of the trace
  bool lacks_stacks_of_one = false;  // true: only one of the two traces has stacks, so they are compared by call site
};

struct Flamegraph {
  std::string svg;
  std::uint64_t frames = 0;  // number of frames drawn
  // number of small frames that are not drawn because there are too many frames; they appear as gaps
  std::uint64_t omitted = 0;
};

// Widths are shares of the sum over all allocators, exact to a millionth of a pixel. Percentages are shares of the
// frame's own allocator. Values of different allocators are never added, because slabs are made of pages. If `base` is
// not null, colours show growth and shrinkage since `base`.
Flamegraph flamegraph(const StackProfile& profile, const StackProfile* base, const FlamegraphOptions& options);

}  // namespace kmt
