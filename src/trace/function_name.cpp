// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/function_name.hpp"

#include <algorithm>
#include <array>

namespace kmt {

namespace {

// What GCC and Clang append to the names of functions that they copied, split or renamed.
constexpr std::array<std::string_view, 8> kSuffixes = {".part.", ".constprop.", ".isra.",      ".cold",
                                                       ".llvm.", ".lto_priv.",  ".localalias", ".__uniq."};

}  // namespace

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
