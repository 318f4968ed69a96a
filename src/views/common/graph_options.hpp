// SPDX-License-Identifier: GPL-2.0-or-later
// Options for the output of a call graph.
#pragma once

#include <cstddef>
#include <string>

#include "results/calls/graph.hpp"

namespace kmt {

struct GraphOptions {
  const Column<GraphFunction>* sort = nullptr;  // nullptr: sort by total time
  std::size_t top = 20;                         // maximum number of functions in the text table; 0: all
  std::size_t most_functions = 0;               // maximum number of functions in the JSON document; 0: all
  bool arguments = false;
  bool return_values = false;
  bool texts = false;        // true: the JSON document also has arguments and results as text
  std::string filters;       // names of the options that select calls; empty: no calls are filtered out
  bool sums_beyond = false;  // true: the sums of functions include calls that the filters exclude
};

}  // namespace kmt
