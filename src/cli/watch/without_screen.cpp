// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/watch/top_screen.hpp"

#include "base/parts/missing_part.hpp"

namespace kmt {

struct TopScreen::Terminal {};

TopScreen::TopScreen() {
  throw missing_part("show an interactive screen (`kmemtrace top --batch` prints text)", "libncurses-dev", "SCREEN");
}

TopScreen::~TopScreen() = default;

unsigned TopScreen::width() const { return 1; }
unsigned TopScreen::height() const { return 1; }

void TopScreen::show(const std::vector<TopLine>&, const std::string&) {}

int TopScreen::key(int) { return kNoKey; }

}  // namespace kmt
