// SPDX-License-Identifier: GPL-2.0-or-later
// A small HTML page that shows a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kmt {

struct PageLink {
  std::string target;
  std::string text;
};

// Returns a page with a heading, a line of links, and the text in a font of fixed width. Escapes all texts.
std::string text_page(std::string_view title, const std::vector<PageLink>& links, std::string_view text);

}  // namespace kmt
