// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/text_page.hpp"

#include <fmt/format.h>

#include "views/common/xml.hpp"

namespace kmt {

std::string text_page(std::string_view title, const std::vector<PageLink>& links, std::string_view text) {
  std::string line;
  for (const PageLink& link : links)
    line += fmt::format("<a href=\"{}\">{}</a> ", xml_text(link.target), xml_text(link.text));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>:root{{color-scheme:light dark}}body{{font-family:sans-serif;margin:2em}}</style></head>\n"
      "<body><h1>{0}</h1>\n<p>{1}</p>\n<pre>{2}</pre></body></html>\n",
      xml_text(title), line, xml_text(text));
}

}  // namespace kmt
