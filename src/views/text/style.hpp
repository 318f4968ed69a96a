// SPDX-License-Identifier: GPL-2.0-or-later
// How text for people shall look; decided by cli, obeyed by every text view.
#pragma once

namespace kmt {

struct TextStyle {
  static constexpr unsigned kMinWidth = 60;  // narrower tables would say nothing
  static constexpr unsigned kMaxWidth = 1000;

  unsigned width = 120;  // columns of a line; 120 where there is no terminal
  bool colour = false;   // escape sequences are allowed
  bool raw = false;      // plain digits, full names: for scripts; nothing is shortened or dropped to fit
  bool unicode = true;   // block and braille characters can be shown
};

}  // namespace kmt
