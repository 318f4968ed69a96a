// SPDX-License-Identifier: GPL-2.0-or-later
// Writes results to stdout in a style that suits the terminal. Messages on stderr are written elsewhere
// (cli/support/say.hpp).
#pragma once

#include <string_view>

#include "views/text/style.hpp"

namespace kmt {

// Writes a result to stdout. Returns false if the reader has closed the pipe, which is not an error. Throws Error for
// other failures, such as a full disk.
bool print_result(std::string_view text);

// Options with which the user chooses the style.
struct StyleOptions {
  bool raw = false;
  bool colour = true;
  bool ascii = false;
};

// Returns the style for stdout. The width is that of the terminal, or the variable COLUMNS, or 120. Colour is used only
// on a terminal that supports it, and not if NO_COLOR is set. Non-ASCII characters are used if LC_ALL, LC_CTYPE or LANG
// selects UTF-8.
TextStyle stdout_style(const StyleOptions& options);

// Opens stdin, stdout and stderr if they are closed. Otherwise, a file opened later could get the descriptor of a
// standard stream. Writing to such a stream is still an error.
void reserve_standard_streams();

}  // namespace kmt
