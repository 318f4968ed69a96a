// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/html/report.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/gzip.hpp"

// Embeds the built front end (web/) into the program.
asm(R"(
  .section .rodata
  .global kmemtrace_html_begin
  .global kmemtrace_html_end
kmemtrace_html_begin:
  .incbin ")" KMEMTRACE_HTML R"("
kmemtrace_html_end:
  .previous
)");
extern "C" const char kmemtrace_html_begin[];
extern "C" const char kmemtrace_html_end[];

namespace kmt {

namespace {

constexpr std::string_view kMarker = "@KMEMTRACE_DATA@";

// Encodes bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
  }
  return out;
}

// Removes the white space between the tokens of JSON, so that the HTML file is small.
std::string compact(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!quoted && (c == ' ' || c == '\n')) continue;
    out += c;
    if (quoted && c == '\\' && i + 1 < json.size())
      out += json[++i];
    else if (c == '"')
      quoted = !quoted;
  }
  return out;
}

std::string document(const HtmlTrace& trace) {
  return fmt::format(
      R"({{"report":{},"tables":{{"caches":{},"tasks":{}}},"leaks":{},"timeline":{},"explore":{},"calls":{}}})",
      trace.report, trace.caches, trace.tasks, trace.leaks, trace.timeline, trace.explore, trace.calls);
}

}  // namespace

std::string html_report(const std::vector<HtmlTrace>& traces, const std::string& diff, const std::string& investigation,
                        const std::string& front) {
  std::string documents;
  for (const HtmlTrace& trace : traces) documents += (documents.empty() ? "" : ",") + document(trace);
  const std::string data = fmt::format(
      R"({{"schema":"kmemtrace.html/1","version":"{}","front":{},"traces":[{}],"diff":{},"investigation":{}}})",
      KMEMTRACE_VERSION, front.empty() ? "null" : fmt::format("\"{}\"", front), documents, diff.empty() ? "null" : diff,
      investigation.empty() ? "null" : investigation);
  const std::string_view page(kmemtrace_html_begin,
                              static_cast<std::size_t>(kmemtrace_html_end - kmemtrace_html_begin));
  const std::size_t at = page.find(kMarker);
  if (at == std::string_view::npos)
    throw Error("This program was built without the HTML report's page: install npm and build it again");
  std::string html(page.substr(0, at));
  html += base64(gzip(compact(data)));
  return html.append(page.substr(at + kMarker.size()));
}

}  // namespace kmt
