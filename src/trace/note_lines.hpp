// SPDX-License-Identifier: GPL-2.0-or-later
// Notes of several lines, of any size.
#pragma once

#include <algorithm>
#include <string_view>

namespace kmt {

// Cuts the first line from the text.
inline std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

}  // namespace kmt
