// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/code/function_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"

namespace kmt {

namespace {

// Suffixes that GCC and Clang add to the names of functions that they copied, split or renamed.
constexpr std::array<std::string_view, 8> kSuffixes = {".part.", ".constprop.", ".isra.",      ".cold",
                                                       ".llvm.", ".lto_priv.",  ".localalias", ".__uniq."};

// Escapes the bracket before a module name. fnmatch(3) would otherwise treat it as the start of a character set.
std::string with_literal_module(std::string glob) {
  const std::size_t open = glob.rfind('[');
  if (!glob.ends_with(']') || open == std::string::npos || open == 0) return glob;
  if (glob[open - 1] != ' ' && glob[open - 1] != '*') return glob;
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (!std::all_of(glob.begin() + static_cast<std::ptrdiff_t>(open) + 1, glob.end() - 1, is_word)) return glob;
  return glob.insert(open, 1, '\\');
}

}  // namespace

bool matches_site(const std::string& glob, const std::string& symbol) {
  const std::string pattern = with_literal_module(glob);
  const std::string function(function_of(symbol));
  const std::string name = symbol.substr(0, symbol.find_first_of("+ "));
  const std::size_t module = symbol.find(' ');
  const std::string after = module == std::string::npos ? "" : symbol.substr(module);
  return glob_match(pattern, symbol) || glob_match(pattern, symbol.substr(0, module)) || glob_match(pattern, name) ||
         glob_match(pattern, name + after) || glob_match(pattern, function) || glob_match(pattern, function + after);
}

std::string_view function_of(std::string_view symbol) {
  const std::string_view name = symbol.substr(0, symbol.find_first_of("+ "));
  std::size_t end = name.size();
  for (const std::string_view suffix : kSuffixes) {
    const std::size_t at = name.find(suffix);
    if (at != std::string_view::npos && at > 0) end = std::min(end, at);
  }
  return name.substr(0, end);
}

}  // namespace kmt
