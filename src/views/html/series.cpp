// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/series.hpp"

#include <fmt/format.h>

#include "views/html/series_script.hpp"

namespace kmt {

namespace {

constexpr const char* kStyle =
    ":root{color-scheme:light dark}body{font:14px sans-serif;margin:1.5em;max-width:1400px}"
    "canvas{width:100%;height:320px;display:block;cursor:crosshair;touch-action:none}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}th,td{padding:.2em .8em;text-align:left;vertical-align:top}"
    "th{border-bottom:1px solid #8888}td.number{text-align:right;font-variant-numeric:tabular-nums}"
    "tr.certain td{font-weight:bold}button,select{font:inherit;margin-right:.5em}#hint{min-height:1.4em}"
    ".boot{color:#27c}.oom{color:#c22}.alert{color:#b70}";

// Escapes JSON for a script element, in which the text "</script" would end the element.
std::string escaped(const std::string& json) {
  std::string out;
  for (const char c : json) c == '<' ? out += "\\u003c" : out += c;
  return out;
}

}  // namespace

std::string series_page(const std::string& overview) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Kernel memory over time</title>\n"
      "<link rel=\"icon\" href=\"data:,\"><style>{}</style></head>\n<body><h1>Kernel memory over time</h1>\n"
      "<p id=\"summary\"></p>\n"
      "<p><label>Memory: <select id=\"band\"></select></label><button id=\"out\">Zoom out</button>"
      "<button id=\"all\">Whole time</button> Drag to zoom in, or use + and −.</p>\n"
      "<canvas id=\"plot\" role=\"img\" tabindex=\"0\" aria-label=\"Memory over time\"></canvas><p id=\"hint\"></p>\n"
      "<h2>Events</h2><div id=\"events\"></div>\n<h2>Growth</h2><div id=\"growth\"></div>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}</script></body></html>\n",
      kStyle, escaped(overview), kSeriesScript);
}

}  // namespace kmt
