// SPDX-License-Identifier: GPL-2.0-or-later
// A report by stack as a picture: an SVG that can be read as it is, and searched and zoomed in a browser.
#pragma once

#include <string>

#include "views/common/stack_profile.hpp"

namespace kmt {

struct FlamegraphOptions {
  StackMetric metric = StackMetric::allocated;
  bool callers_first =
      false;          // stacks begin with who allocates, at the top; else with the outermost frame, at the bottom
  std::string title;  // empty: the trace's name
  bool lacks_stacks_of_one = false;  // two traces are compared by call sites, since only one has stacks
};

struct Flamegraph {
  std::string svg;
  std::uint64_t frames = 0;    // drawn
  std::uint64_t left_out = 0;  // the smallest ones, where there are too many, in the gaps of those that are drawn
};

// Widths are exact shares of what all allocators gave, to a millionth of a pixel; numbers are shares of what the
// frame's allocator gave, since allocators are never to be added: slabs are made of pages. With `base` (else null)
// colours say what grew and shrank since then.
Flamegraph flamegraph(const StackProfile& profile, const StackProfile* base, const FlamegraphOptions& options);

}  // namespace kmt
