// SPDX-License-Identifier: GPL-2.0-or-later
// The style of text for people; cli decides it.
#pragma once

namespace kmt {

struct TextStyle {
  static constexpr unsigned kMinWidth = 60;  // narrower tables would be useless
  static constexpr unsigned kMaxWidth = 1000;

  unsigned width = 120;  // columns of a line; 120 without a terminal
  bool colour = false;   // escape sequences are allowed
  bool raw = false;      // plain digits and full names for scripts; nothing is shortened or dropped to fit
  bool unicode = true;   // block and braille characters are allowed
};

}  // namespace kmt
