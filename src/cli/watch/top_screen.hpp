// SPDX-License-Identifier: GPL-2.0-or-later
// The terminal of `top`: ncurses, without knowledge of memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "views/text/top.hpp"

namespace kmt {

// Meanings of keys; others are the characters themselves.
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

// Controls the terminal during its life.
class TopScreen {
 public:
  // Throws Error if stdin or stdout is not a capable terminal.
  TopScreen();
  ~TopScreen();
  TopScreen(const TopScreen&) = delete;
  TopScreen& operator=(const TopScreen&) = delete;

  unsigned width() const;
  unsigned height() const;
  // Lines that do not fit are cut off; the last line of the screen is `footer`.
  void show(const std::vector<TopLine>& lines, const std::string& footer);
  // Waits at most this long, in milliseconds.
  int key(int wait_ms);

 private:
  struct Terminal;
  std::unique_ptr<Terminal> terminal_;
};

}  // namespace kmt
