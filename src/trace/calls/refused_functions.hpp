// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that the kernel refused to trace.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct RefusedFunction {
  std::string name;
  std::string why;
};

// Parses the note "refused_functions" (docs/formats/kmt.md). Skips invalid lines, and all lines after the maximum
// number of recorded functions.
std::vector<RefusedFunction> parse_refused_functions(std::string_view text);
std::string refused_functions_text(const std::vector<RefusedFunction>& refused);

}  // namespace kmt
