// SPDX-License-Identifier: GPL-2.0-or-later
// The style of text output. The code in src/cli chooses it.
#pragma once

namespace kmt {

struct TextStyle {
  static constexpr unsigned kMinWidth = 60;  // in characters; a narrower table would be useless
  static constexpr unsigned kMaxWidth = 1000;

  unsigned width = 120;  // width of a line in characters; 120 if the output is not a terminal
  bool colour = false;   // true: escape sequences for colours are allowed
  // true: output for scripts, with plain digits and full names; no name is shortened and no column dropped
  bool raw = false;
  bool unicode = true;  // true: block and braille characters are allowed
};

}  // namespace kmt
