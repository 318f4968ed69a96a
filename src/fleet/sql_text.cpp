// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/sql_text.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kmt {

namespace {

// Returns the text in quotes. Puts a backslash before each quote and backslash. Also escapes zero bytes, because old
// servers treat them as the end of the text.
std::string quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\0')
      out += "\\0";
    else
      out += c;
  }
  return out + quote;
}

}  // namespace

std::string sql_string(std::string_view text) { return quoted(text, '\''); }
std::string sql_name(std::string_view text) { return quoted(text, '`'); }

std::string sql_like(std::string_view column, std::string_view glob) {
  std::string pattern;
  for (const char c : glob) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c == '*' ? '%' : c == '?' ? '_' : c;
  }
  return std::string(column) + " LIKE " + sql_string(pattern);
}

std::string fill_sql(std::string_view sql, const SqlPlaces& places) {
  std::string out;
  for (const std::string_view line : split(sql, '\n')) {
    if (line.starts_with("--")) continue;
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] != '{') {
        out += line[at++];
        continue;
      }
      const std::size_t end = line.find('}', at);
      const std::string_view name = line.substr(at + 1, end - at - 1);
      const auto place = std::ranges::find(places, name, [](const auto& known) { return known.first; });
      if (place == places.end()) throw Error("No value for {" + std::string(name) + "} in SQL");
      out += place->second;
      at = end + 1;
    }
    out += '\n';
  }
  return out;
}

std::vector<std::string> statements_of(const std::string& sql) {
  std::vector<std::string> statements;
  std::size_t begin = 0;
  for (std::size_t end = sql.find(";\n"); end != std::string::npos; begin = end + 2, end = sql.find(";\n", begin))
    statements.emplace_back(trim(std::string_view(sql).substr(begin, end - begin)));
  return statements;
}

}  // namespace kmt
