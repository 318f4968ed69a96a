// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/common/shell_word.hpp"

#include <algorithm>

namespace kmt {

bool is_plain(std::string_view text, std::string_view marks) {
  return !text.empty() && std::ranges::all_of(text, [marks](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           marks.find(c) != std::string_view::npos;
  });
}

std::string shell_word(const std::string& path) {
  std::string name = path.starts_with('-') ? "./" + path : path;
  if (is_plain(name, "/._-+,:@%=")) return name;
  std::string quoted = "'";
  for (const char c : name) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace kmt
