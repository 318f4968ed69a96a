// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/histogram.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/text/clean.hpp"

namespace kmt::text {

namespace {

constexpr std::string_view kTrigger = "# trigger info: ";
constexpr std::size_t kMostColumns = 64;

// Removes the first line from the text. Returns the line without additions of mails and logs. It is valid until the
// next call.
std::string_view take_line(std::string_view& text, std::string& buffer) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trim(clean_line(line, buffer));
}

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

// Removes "NAME: " from the front of a key and returns the name. Returns an empty text if the key has no name.
std::string_view take_name(std::string_view& text) {
  constexpr std::size_t kLongestName = 128;
  const std::size_t colon = text.substr(0, kLongestName).find(':');
  if (colon == text.npos || !is_name(text.substr(0, colon))) return {};
  const std::string_view name = text.substr(0, colon);
  text = trim(text.substr(colon + 1));
  return name;
}

// Returns a readable form of a key. "[ffffffff8134b9c0] alloc_fdtable " becomes "alloc_fdtable", "bash [ 812]" becomes
// "bash [812]", and a large decimal number, which is an address, becomes hexadecimal.
std::string readable_key(std::string_view text) {
  if (const std::size_t close = text.find("] "); text.starts_with('[') && close != text.npos)
    text = trim(text.substr(close + 2));
  constexpr std::uint64_t kFirstAddress = std::uint64_t{1} << 63;
  const auto number = parse_number<std::uint64_t>(text);
  if (number && *number >= kFirstAddress) return fmt::format("{:#x}", *number);
  std::string out;
  for (const char c : text)
    if (c != ' ' || (!out.empty() && out.back() != ' ' && out.back() != '[')) out += c;
  return out;
}

using NamedKeys = std::vector<std::pair<std::string_view, std::string>>;

// Splits "call_site: [ffff…] foo+0x1, common_pid: bash [812]" at each ", NAME: ".
NamedKeys split_keys(std::string_view text) {
  NamedKeys keys;
  text = trim(text);
  while (!text.empty() && keys.size() < kMostColumns) {
    const std::string_view name = take_name(text);
    std::size_t end = text.find(", ");
    for (; end != text.npos; end = text.find(", ", end + 2)) {
      std::string_view next = text.substr(end + 2);
      if (!take_name(next).empty()) break;
    }
    keys.emplace_back(name, readable_key(trim(text.substr(0, end))));
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
  return keys;
}

using NamedValues = std::vector<std::pair<std::string_view, std::optional<std::uint64_t>>>;

// True if the trigger prints this value with a modifier, as in "vals=bytes_req.hex". Hexadecimal values have no 0x.
bool has_modifier(std::string_view trigger, std::string_view name, std::string_view modifier) {
  constexpr std::string_view kValues = ":vals=";
  const std::size_t at = trigger.find(kValues);
  if (at == trigger.npos) return false;
  const std::string_view values = trigger.substr(at + kValues.size());
  const auto names = split(values.substr(0, values.find_first_of(": ")), ',');
  return std::ranges::find(names, fmt::format("{}.{}", name, modifier)) != names.end();
}

// Parses "12.34" as hundredths.
std::optional<std::uint64_t> parse_percentage(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == text.npos || text.size() - point != 3) return std::nullopt;
  const auto whole = parse_number<std::uint64_t>(text.substr(0, point));
  const auto hundredths = parse_number<std::uint64_t>(text.substr(point + 1));
  return whole && hundredths && *whole <= 100 ? std::optional(*whole * 100 + *hundredths) : std::nullopt;
}

// Splits "hitcount:   3  bytes_req:   144". A value that is printed as a bar of "#" becomes empty.
NamedValues split_values(std::string_view text, std::string_view trigger) {
  NamedValues values;
  for (std::size_t colon = text.find(':'); colon != text.npos && values.size() < kMostColumns; colon = text.find(':')) {
    const std::string_view name = trim(text.substr(0, colon));
    text = text.substr(colon + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const bool is_number = !text.empty() && is_digit(text.front());
    // A bar, which may have no "#".
    if (text.starts_with('#') || (!is_number && has_modifier(trigger, name, "graph"))) {
      text.remove_prefix(std::min(text.find_first_not_of('#'), text.size()));
      values.emplace_back(name, std::nullopt);
      continue;
    }
    const std::string_view value = text.substr(0, text.find(' '));
    text.remove_prefix(value.size());
    const int base = has_modifier(trigger, name, "hex") ? 16 : 10;
    values.emplace_back(name, is_percentage(name) ? parse_percentage(value) : parse_number<std::uint64_t>(value, base));
  }
  return values;
}

// True if this line may be the continuation of a row that a mail program wrapped.
bool continues_row(std::string_view line) {
  constexpr std::array<std::string_view, 4> kStarts = {"Totals:", "Hits:", "Entries:", "Dropped:"};
  if (line.empty() || std::ranges::any_of(kStarts, [line](std::string_view one) { return line.starts_with(one); }))
    return false;
  return is_digit(line.front()) || !take_name(line).empty();
}

// Adds a row. The first row determines the columns. A later row with other columns counts as unreadable.
void add_row(std::string_view keys_text, std::string_view values_text, Histogram& histogram) {
  const NamedKeys keys = split_keys(keys_text);
  const NamedValues values = split_values(values_text, histogram.trigger);
  const bool is_first = histogram.keys.empty();
  const bool has_columns =
      is_first || (keys.size() == histogram.keys.size() &&
                   std::ranges::equal(values, histogram.values, {}, [](const auto& value) { return value.first; }));
  const bool has_bar =
      trim(values_text).starts_with("hitcount: #") || has_modifier(histogram.trigger, "hitcount", "graph");
  if (keys.empty() || values.empty() || !(values.front().second || has_bar) || !has_columns) {
    ++histogram.unreadable_rows;
    return;
  }
  HistogramRow row;
  for (const auto& [name, text] : keys) {
    if (is_first) histogram.keys.emplace_back(name.empty() ? "key" : name);
    row.keys.push_back(text);
  }
  for (const auto& [name, value] : values) {
    if (is_first) histogram.values.emplace_back(name);
    row.values.push_back(value);
  }
  histogram.rows.push_back(std::move(row));
}

// Returns the row together with the lines that follow it, if a mail program wrapped the row.
std::string_view with_wrapped_parts(std::string_view line, std::string_view& text, std::string& joined) {
  constexpr unsigned kMostParts = 8;
  for (unsigned i = 0; i < kMostParts && !text.empty(); ++i) {
    std::string_view rest = text;
    std::string buffer;
    const std::string_view next = take_line(rest, buffer);
    if (!continues_row(next)) break;
    if (i == 0) joined = line;
    joined.append(" ").append(next);
    text = rest;
    line = joined;
  }
  return line;
}

// Reads the total of a line such as "Hits: 4610".
void read_total(std::string_view line, Histogram& histogram) {
  const auto number = [line](std::string_view name) {
    return line.starts_with(name) ? parse_number<std::uint64_t>(trim(line.substr(name.size()))) : std::nullopt;
  };
  if (const auto hits = number("Hits:")) histogram.hits = hits;
  if (const auto entries = number("Entries:")) histogram.entries = entries;
  if (const auto dropped = number("Dropped:")) histogram.dropped = dropped;
}

}  // namespace

bool is_histogram(Bytes bytes) {
  constexpr std::size_t kLookAt = 64 << 10;
  std::string_view text = as_text(bytes.first(std::min(bytes.size(), kLookAt)));
  if (text.find('\0') != text.npos) return false;
  std::string buffer;
  while (!text.empty()) {
    const std::string_view line = take_line(text, buffer);
    if (line.starts_with(kTrigger) && line.substr(kTrigger.size()).starts_with("hist:")) return true;
    if (line.starts_with("{ ") && line.find("} hitcount:") != line.npos) return true;
  }
  return false;
}

std::vector<Histogram> read_histograms(Bytes bytes) {
  std::string_view text = as_text(bytes);
  std::vector<Histogram> histograms;
  std::string buffer;
  std::string joined;
  std::size_t row_size = 0;  // length of the values of the previous row, in bytes
  std::string open_keys;     // the start of a key that has several lines, such as a stack with one address per line
  const auto current = [&histograms]() -> Histogram& {
    if (histograms.empty()) histograms.emplace_back();
    return histograms.back();
  };
  while (!text.empty()) {
    std::string_view line = take_line(text, buffer);
    if (line.starts_with('{') && line.rfind('}') != line.npos) line = with_wrapped_parts(line, text, joined);
    // Use the last brace, because the name of a task may contain another one.
    const std::size_t close = line.rfind('}');
    if (line.starts_with(kTrigger)) {
      histograms.emplace_back().trigger = line.substr(kTrigger.size());
      open_keys.clear();
      row_size = 0;
    } else if (line.starts_with('{') && close == line.npos) {
      open_keys = trim(line.substr(1));
    } else if (line.starts_with('{') && text.empty() && bytes.back() != '\n' && line.size() - close < row_size) {
      ++current().unreadable_rows;  // the kernel aligns rows, so the last number of this one lacks digits
    } else if (line.starts_with('{')) {
      row_size = line.size() - close;
      add_row(line.substr(1, close - 1), line.substr(close + 1), current());
    } else if (!open_keys.empty() && close != line.npos) {
      add_row(fmt::format("{} {}", open_keys, trim(line.substr(0, close))), line.substr(close + 1), current());
      open_keys.clear();
    } else if (!open_keys.empty()) {
      open_keys += fmt::format("{}{}", open_keys.ends_with(':') ? " " : " < ", line);
    } else {
      read_total(line, current());
    }
  }
  // Text before the first trigger may have created an empty histogram.
  std::erase_if(histograms, [](const Histogram& one) {
    return one.trigger.empty() && one.keys.empty() && one.unreadable_rows == 0;
  });
  return histograms;
}

}  // namespace kmt::text
