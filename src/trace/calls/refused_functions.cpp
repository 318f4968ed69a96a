// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/calls/refused_functions.hpp"

#include <fmt/format.h>

#include "trace/calls/recorded_functions.hpp"
#include "trace/note_lines.hpp"

namespace kmt {

// Parses lines "FUNCTION WHY".
std::vector<RefusedFunction> parse_refused_functions(std::string_view text) {
  std::vector<RefusedFunction> refused;
  while (!text.empty() && refused.size() < kMostRecordedFunctions) {
    const std::string_view line = take_line(text);
    if (const std::size_t blank = line.find(' '); blank != std::string_view::npos && blank > 0)
      refused.push_back({std::string(line.substr(0, blank)), std::string(line.substr(blank + 1))});
  }
  return refused;
}

std::string refused_functions_text(const std::vector<RefusedFunction>& refused) {
  std::string text;
  for (const RefusedFunction& one : refused) text += fmt::format("{} {}\n", one.name, one.why);
  return text;
}

}  // namespace kmt
