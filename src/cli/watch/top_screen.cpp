// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/top_screen.hpp"

#include <clocale>
#include <cstdio>

#include <ncurses.h>
#include <unistd.h>

#include "base/error.hpp"

namespace kmt {

namespace {

// in ms; after an escape character, this is the time to wait for the rest of a key sequence
constexpr int kEscapeDelay = 25;

attr_t attributes_of(TopLineKind kind) {
  switch (kind) {
    case TopLineKind::heading: return A_BOLD;
    case TopLineKind::selected: return A_REVERSE;
    case TopLineKind::aside: return A_DIM;
    case TopLineKind::plain: break;
  }
  return A_NORMAL;
}

}  // namespace

struct TopScreen::Terminal {
  SCREEN* screen = nullptr;
};

TopScreen::TopScreen() : terminal_(std::make_unique<Terminal>()) {
  std::setlocale(LC_CTYPE, "");
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1)
    terminal_->screen = ::newterm(nullptr, stdout, stdin);
  if (!terminal_->screen)
    throw Error("This terminal cannot show a screen")
        .hint("Use `kmemtrace top --batch` to print frames as text, or set TERM to the type of the terminal");
  ::set_escdelay(kEscapeDelay);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::curs_set(0);
}

TopScreen::~TopScreen() {
  ::endwin();
  ::delscreen(terminal_->screen);
}

unsigned TopScreen::width() const { return static_cast<unsigned>(std::max(1, getmaxx(stdscr))); }
unsigned TopScreen::height() const { return static_cast<unsigned>(std::max(1, getmaxy(stdscr))); }

void TopScreen::show(const std::vector<TopLine>& lines, const std::string& footer) {
  ::werase(stdscr);
  const int last = static_cast<int>(height()) - 1;
  const auto put = [&](int row, const std::string& text, attr_t attributes) {
    ::wattr_set(stdscr, attributes, 0, nullptr);
    ::wmove(stdscr, row, 0);
    ::waddnstr(stdscr, text.c_str(), -1);
    // If a line is too long, ncurses continues it in the next row, which show() clears before it draws the next line.
    if ((attributes & A_REVERSE) != 0) mvchgat(row, 0, -1, A_REVERSE, 0, nullptr);
  };
  for (int row = 0; row < last && row < static_cast<int>(lines.size()); ++row) {
    ::wmove(stdscr, row, 0);
    ::wclrtobot(stdscr);
    const TopLine& line = lines[static_cast<std::size_t>(row)];
    put(row, line.text, attributes_of(line.kind));
  }
  ::wmove(stdscr, last, 0);
  ::wclrtobot(stdscr);
  put(last, footer, A_DIM);
  ::wrefresh(stdscr);
}

int TopScreen::key(int wait_ms) {
  ::wtimeout(stdscr, wait_ms);
  switch (const int key = ::wgetch(stdscr)) {
    case ERR: return kNoKey;
    case KEY_UP: return kKeyUp;
    case KEY_DOWN: return kKeyDown;
    case KEY_PPAGE: return kKeyPageUp;
    case KEY_NPAGE: return kKeyPageDown;
    case KEY_HOME: return kKeyHome;
    case KEY_END: return kKeyEnd;
    case KEY_RESIZE: return kKeyResize;
    case KEY_ENTER:
    case '\r':
    case '\n': return kKeyEnter;
    case 27: return kKeyEscape;
    case KEY_BACKSPACE:
    case 127:
    case 8: return kKeyBackspace;
    default: return key;
  }
}

}  // namespace kmt
