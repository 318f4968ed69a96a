// SPDX-License-Identifier: GPL-2.0-or-later
// Controls the terminal of `top` with ncurses. This code works for any data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "views/text/heap/top.hpp"

namespace kmt {

// Values of special keys. The value of any other key is its character.
enum TopKey {
  kNoKey = -1,
  kKeyUp = 0x10000,
  kKeyDown,
  kKeyPageUp,
  kKeyPageDown,
  kKeyHome,
  kKeyEnd,
  kKeyResize,
  kKeyEnter,
  kKeyEscape,
  kKeyBackspace
};

// Puts the terminal into the mode for `top` while an object of this class exists.
class TopScreen {
 public:
  // Throws Error if stdin or stdout is not a terminal with the needed capabilities.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  unsigned width() const;
  unsigned height() const;
  // Shows the lines, and `footer` in the last line of the screen. Lines that do not fit are cut.
  void show(const std::vector<TopLine>& lines, const std::string& footer);
  // Returns the next key, or kNoKey after waiting `wait_ms` milliseconds.
  int key(int wait_ms);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace kmt
