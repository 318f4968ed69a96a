// SPDX-License-Identifier: GPL-2.0-or-later
// A report by stack as an SVG that can be read as it is, and searched and zoomed in a browser.
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlamegraphOptions {
  StackMetric metric = StackMetric::allocated;
  bool callers_first = false;        // the allocator on top; else the outermost frame at the bottom
  std::string title;                 // empty: the trace's name
  bool lacks_stacks_of_one = false;  // a comparison by call site, since only one trace has stacks
};

struct Flamegraph {
  std::string svg;
  std::uint64_t frames = 0;    // frames drawn
  std::uint64_t left_out = 0;  // the smallest frames, if there are too many; gaps show them
};

// Widths are exact shares of what all allocators gave, to a millionth of a pixel. Numbers are shares of the frame's own
// allocator: slabs are made of pages, so allocators are never added. With `base` (otherwise null), colours show what
// grew and shrank.
Flamegraph flamegraph(const StackProfile& profile, const StackProfile* base, const FlamegraphOptions& options);

}  // namespace kmt
