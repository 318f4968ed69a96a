// SPDX-License-Identifier: GPL-2.0-or-later
// Functions whose calls the kernel did not allow to record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct RefusedFunction {
  std::string name;
  std::string why;
};

// The note "refused_functions" of docs/formats/kmt.md. Lines that are none are passed over, and those that are more
// than can be recorded at once.
std::vector<RefusedFunction> parse_refused_functions(std::string_view text);
std::string refused_functions_text(const std::vector<RefusedFunction>& refused);

}  // namespace kmt
