// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/record.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/time.hpp"

namespace kmt {

namespace {

// Appends the character of a JSON escape such as "\n" or "\u001b". `at` must be the position after the backslash, and
// is moved to the last character of the escape.
void append_escaped(std::string_view line, std::size_t& at, std::string& value) {
  switch (line[at]) {
    case 'n': value += '\n'; return;
    case 't': value += '\t'; return;
    case 'r': return;
    case 'u': {
      const auto code = parse_number<unsigned>(line.substr(at + 1, 4), 16);
      value += code && *code < 0x80 ? static_cast<char>(*code) : '?';
      at += std::min<std::size_t>(4, line.size() - 1 - at);
      return;
    }
    default: value += line[at];
  }
}

// Returns the text of the JSON string that starts at the quotation mark `at`. Moves `at` to the mark at its end.
std::string json_string(std::string_view line, std::size_t& at) {
  std::string value;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 == line.size())
      value += line[at];
    else
      append_escaped(line, ++at, value);
  }
  return value;
}

// Returns the value of a key in a line of JSON: a number, or a string whose escapes are decoded.
std::optional<std::string> json_value(std::string_view line, std::string_view key) {
  const std::string name = '"' + std::string(key) + '"';
  std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  at = line.find_first_not_of(" :", at + name.size());
  if (at == std::string_view::npos) return std::nullopt;
  if (line[at] == '"') return json_string(line, at);
  std::string value(line.substr(at, line.find_first_not_of("0123456789.", at) - at));
  return value.empty() ? std::nullopt : std::optional(std::move(value));
}

std::optional<std::uint64_t> nanoseconds(std::string_view micros) {
  const auto number = parse_number<std::uint64_t>(micros);
  return number && *number <= UINT64_MAX / 1000 ? std::optional(*number * 1000) : std::nullopt;
}

// Parses a time, which is either in seconds since boot or a date, and stores it in `fields`.
void take_time(std::string_view text, RecordFields& fields) {
  if (const auto time = seconds_of(text))
    fields.boot_ns = time;
  else if (const auto date = take_iso_time(text))
    fields.wall_ns = date->unix_ns, fields.has_zone = date->has_zone;
}

// Splits a row into fields. A field in quotation marks may contain commas, and quotation marks that are doubled.
std::vector<std::string> csv_fields(std::string_view line) {
  constexpr std::size_t kMostFields = 256;
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && line.substr(i + 1).starts_with('"'))
      fields.back() += line[++i];
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted && fields.size() < kMostFields)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

bool names_message(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"message", "MESSAGE", "Message", "msg", "_raw", "log"};
  return std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool take_json_string(std::string_view line, std::string& message) {
  line = trim(line);
  if (line.ends_with(',')) line.remove_suffix(1);
  if (line.size() < 2 || !line.starts_with('"') || !line.ends_with('"')) return false;
  std::size_t at = 0;
  std::string text = json_string(line, at);
  if (at + 1 != line.size()) return false;
  message = std::move(text);
  return true;
}

bool take_json(std::string_view line, std::string& message, RecordFields& fields) {
  line = trim(line);
  if (line.starts_with("data: ")) line.remove_prefix(6);
  if (!line.starts_with('{') && !line.starts_with("\"") && !line.starts_with('\x1e')) return false;
  bool is_field = line.starts_with('"') && line.find("\":") != line.npos;
  const auto of = [&](std::string_view key, auto&& use) {
    if (const auto text = json_value(line, key)) is_field = true, use(*text);
  };
  of("__REALTIME_TIMESTAMP", [&](const std::string& text) { fields.wall_ns = nanoseconds(text); });
  of("__MONOTONIC_TIMESTAMP", [&](const std::string& text) { fields.boot_ns = nanoseconds(text); });
  of("_HOSTNAME", [&](const std::string& text) { fields.host = text; });
  for (const std::string_view key : {"time", "timestamp", "@timestamp", "talos-time"})
    of(key, [&](const std::string& text) { take_time(text, fields); });
  if (line.find("\"talos-") != line.npos)
    of("clock", [&](const std::string& text) { fields.boot_ns = nanoseconds(text); });
  of("caller", [&](const std::string& text) { fields.caller = text; });
  // These keys have the message in the journal, in dmesg, and in the logs of container runtimes and log collectors.
  for (const std::string_view key : {"MESSAGE", "msg", "log", "message", "line"})
    if (message.empty()) of(key, [&](const std::string& text) { message = text; });
  return is_field;
}

bool take_export(std::string_view& line, RecordFields& fields) {
  const std::string_view field = trim(line);
  const std::size_t equals = field.find('=');
  const std::string_view name = field.substr(0, equals);
  const auto is_of_name = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  if (equals == field.npos || name.empty() || !std::ranges::all_of(name, is_of_name)) return false;
  const std::string_view value = field.substr(equals + 1);
  if (name == "__REALTIME_TIMESTAMP") fields.wall_ns = nanoseconds(value);
  if (name == "__MONOTONIC_TIMESTAMP") fields.boot_ns = nanoseconds(value);
  if (name == "_HOSTNAME") fields.host = value;
  line = name == "MESSAGE" ? value : std::string_view();
  return true;
}

bool CsvReader::take(std::string_view line, std::string& message, RecordFields& fields) {
  const bool is_quoted = line.starts_with('"') && line.find("\",") != line.npos && line.find("\":") == line.npos;
  const bool may_be_header = line.find(',') != line.npos && line.find_first_of(" :=") == line.npos;
  if (!is_quoted && !column_ && !may_be_header) return false;
  const std::vector<std::string> row = csv_fields(line);
  const auto name = std::ranges::find_if(row, names_message);
  if (!column_ && name != row.end() && row.size() > 1) {
    column_ = static_cast<std::size_t>(name - row.begin());
    return true;
  }
  if (row.size() < 2 || (!is_quoted && !column_)) return false;
  const std::size_t column = column_.value_or(row.size() - 1);
  if (column >= row.size()) return false;
  message = row[column];
  for (std::size_t i = 0; i < row.size(); ++i)
    if (i != column) take_time(row[i], fields);
  return true;
}

bool is_quoted_printable(std::string_view text) {
  constexpr std::size_t kBegin = 1 << 20;
  constexpr std::array<std::string_view, 4> kSigns = {" =3D ", "order=3D", "gfp_mask=3D0x", "hugepages_total=3D"};
  constexpr unsigned kEnough = 2;
  const std::string_view begin = text.substr(0, kBegin);
  if (std::ranges::any_of(kSigns, [begin](std::string_view sign) { return begin.find(sign) != begin.npos; }))
    return true;
  // A part of a mail may have none of these signs. But quoted-printable also splits lines within a word, and puts "="
  // directly after the last character. Lines of other texts may end with " =".
  unsigned split_words = 0;
  each_line(begin, [&split_words](std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > 1 && line.ends_with('=') && line[line.size() - 2] != ' ') ++split_words;
  });
  return split_words >= kEnough;
}

}  // namespace kmt
