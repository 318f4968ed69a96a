// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/errors.hpp"

#include <cstdio>

#include "base/text.hpp"

namespace kmt {

int print_error(const Error& error) {
  std::string text = "error: " + printable(error.what()) + "\n";
  const std::string place = to_string(error.place());
  if (!place.empty()) text += "  at: " + printable(place) + "\n";
  for (const std::string& context : error.contexts()) text += "  while: " + printable(context) + "\n";
  if (!error.hint().empty()) text += "  hint: " + printable(error.hint()) + "\n";
  std::fputs(text.c_str(), stderr);
  return static_cast<int>(error.exit_code());
}

}  // namespace kmt
