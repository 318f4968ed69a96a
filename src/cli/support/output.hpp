// SPDX-License-Identifier: GPL-2.0-or-later
// Writes results to stdout, in a style that suits it; messages go to stderr elsewhere.
#pragma once

#include <string_view>

#include "views/text/style.hpp"

namespace kmt {

// Writes a result to stdout. False if its reader has closed the pipe, which is not an error. Throws Error for other
// failures, such as a full disk.
bool print_result(std::string_view text);

// The user's choices of the style.
struct StyleOptions {
  bool raw = false;
  bool colour = true;
  bool ascii = false;
};

// Returns the style for stdout: the terminal's width, or COLUMNS, or 120; colour only on a capable terminal without
// NO_COLOR; non-ASCII pictures if LC_ALL, LC_CTYPE or LANG names UTF-8.
TextStyle stdout_style(const StyleOptions& options);

// Opens closed ones of stdin, stdout and stderr, so that no file opened later takes their place; writing to a closed
// one stays an error.
void reserve_standard_streams();

}  // namespace kmt
