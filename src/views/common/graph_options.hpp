// SPDX-License-Identifier: GPL-2.0-or-later
// How to show a call graph.
#pragma once

#include <cstddef>
#include <string>

#include "results/calls/graph.hpp"

namespace kmt {

struct GraphOptions {
  const Column<GraphFunction>* sort = nullptr;  // nullptr: total time
  std::size_t top = 20;                         // functions in the text's table; 0: all
  std::size_t most_functions = 0;               // functions in the JSON; 0: all
  bool arguments = false;
  bool return_values = false;
  bool texts = false;        // JSON also has arguments and results as text
  std::string filters;       // names of the options that selected calls; empty: none
  bool sums_beyond = false;  // a filter does not apply to the sums of functions
};

}  // namespace kmt
