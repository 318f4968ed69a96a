// SPDX-License-Identifier: GPL-2.0-or-later
// The style of text output, which src/cli decides.
#pragma once

namespace kmt {

struct TextStyle {
  static constexpr unsigned kMinWidth = 60;  // tables narrower than this would be useless
  static constexpr unsigned kMaxWidth = 1000;

  unsigned width = 120;  // line width in characters; 120 without a terminal
  bool colour = false;   // escape sequences are allowed
  bool raw = false;      // output for scripts: plain digits and full names; nothing is shortened or dropped
  bool unicode = true;   // true: block and braille characters are allowed
};

}  // namespace kmt
