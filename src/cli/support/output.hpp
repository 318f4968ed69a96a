// SPDX-License-Identifier: GPL-2.0-or-later
// The standard streams: results on stdout, where they fit what it is; everything else is written to stderr elsewhere.
#pragma once

#include <string_view>

#include "views/text/style.hpp"

namespace kmt {

// Writes a result to stdout. A reader that has gone away (a closed pipe) has seen enough: that is no error, but false.
// Anything else that keeps it from being written (a full disk) throws Error.
bool print_result(std::string_view text);

// What of the style the user decides.
struct StyleOptions {
  bool raw = false;
  bool colour = true;
  bool ascii = false;
};

// How text shall look on stdout: the terminal's width, or COLUMNS, or 120 where there is neither; colour only on a
// terminal that can and without NO_COLOR; pictures of more than ASCII where LC_ALL, LC_CTYPE or LANG names UTF-8.
TextStyle stdout_style(const StyleOptions& options);

// Opens what of stdin, stdout and stderr is closed, so that no file opened later is mistaken for one of them; writing
// to a stream that was closed stays an error.
void reserve_standard_streams();

}  // namespace kmt
