// SPDX-License-Identifier: GPL-2.0-or-later
// How a call graph shall be shown.
#pragma once

#include <cstddef>
#include <string>

#include "results/calls/graph.hpp"

namespace kmt {

struct GraphOptions {
  const Column<GraphFunction>* sort = nullptr;  // nullptr: by total time
  std::size_t top = 20;                         // functions in the table of the text; 0: all
  std::size_t most_functions = 0;               // of the JSON; 0: all
  bool arguments = false;
  bool return_values = false;
  bool texts = false;        // in the JSON: arguments and results as the text has them, too
  std::string filters;       // the options that chose calls, to be named; empty: none did
  bool sums_beyond = false;  // by what sums over functions take no notice of
};

}  // namespace kmt
