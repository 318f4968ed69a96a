// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/clean.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/encodings.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt::text {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNonBreaking = "\xC2\xA0";
// Bytes at which clean_line() may replace text.
constexpr std::array<bool, 256> kRewritten = [] {
  std::array<bool, 256> rewritten{};
  for (const char c : {'&', '\t', '\x1B', '\xC2', '\xA0'}) rewritten[static_cast<unsigned char>(c)] = true;
  return rewritten;
}();
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_all(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

std::optional<std::uint32_t> character_of(std::string_view entity) {
  constexpr std::array<std::pair<std::string_view, char>, 6> kNames = {
      {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", ' '}}};
  const auto* const known = std::ranges::find(kNames, entity, &std::pair<std::string_view, char>::first);
  if (known != kNames.end()) return static_cast<unsigned char>(known->second);
  if (!entity.starts_with('#')) return std::nullopt;
  const bool is_hex = entity.starts_with("#x") || entity.starts_with("#X");
  entity.remove_prefix(is_hex ? 2 : 1);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(entity.data(), entity.data() + entity.size(), value, is_hex ? 16 : 10);
  const bool is_whole = error == std::errc() && end == entity.data() + entity.size();
  return is_whole && value < 0x110000 ? std::optional(value) : std::nullopt;
}

// -- logs ---------------------------------------------------------------------------------------------------------

// True if the text in brackets is a prefix that logs print before a message: a time, a date, or the task or CPU that
// printed the message. False for "[000]", which is the CPU of an event.
bool is_log_bracket(std::string_view inside) {
  inside = trim(inside);
  if (inside.empty()) return false;
  if ((inside.front() == 'T' || inside.front() == 'C') && is_all(inside.substr(1), kDigits)) return true;
  if (is_all(inside, "0123456789.@")) return std::ranges::count(inside, '.') == 1 && inside.size() > 2;
  return std::ranges::count(inside, ':') >= 2 && std::ranges::all_of(inside, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == ' ' || c == ':' || c == '.' || c == '-' || c == '+' || c == ',';
         });
}

// Removes a time or caller such as "[   13.882123]", and a blank after it.
bool take_bracket(std::string_view& line) {
  constexpr std::size_t kLongest = 48;
  const std::size_t close = line.substr(0, kLongest).find(']');
  if (close == line.npos || !is_log_bracket(line.substr(1, close - 1))) return false;
  line.remove_prefix(close + 1);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return true;
}

// Removes the level of a message, such as "<6>".
bool take_level(std::string_view& line) {
  const std::size_t close = line.substr(0, 5).find('>');
  if (close == line.npos || !is_all(line.substr(1, close - 1), kDigits)) return false;
  line.remove_prefix(close + 1);
  return true;
}

// Removes a prefix of /dev/kmsg such as "6,339,5140900,-;". netconsole may write the release of the kernel before it.
bool take_kmsg(std::string_view& line) {
  constexpr std::size_t kLongest = 64;
  const std::size_t end = line.substr(0, kLongest).find(';');
  if (end == line.npos) return false;
  std::string_view fields = line.substr(0, end);
  const std::size_t first = std::min(fields.find(','), fields.size());
  const std::string_view release = fields.substr(0, first);
  const bool has_release =
      first < fields.size() && release.find('.') != release.npos && release.find_first_of(" :") == release.npos;
  if (has_release && is_digit(release.front())) fields.remove_prefix(first + 1);
  if (std::ranges::count(fields, ',') < 3 || !is_all(fields, "0123456789,-+c")) return false;
  line.remove_prefix(end + 1);
  return true;
}

// True if the text starts with a date such as "Nov 28" or "2026-11-28".
bool starts_with_date(std::string_view text) {
  constexpr std::string_view kMonths = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
  if (text.size() < 10) return false;
  if (text[4] == '-' && text[7] == '-') return is_all(text.substr(0, 4), kDigits);
  return text[3] == ' ' && kMonths.find(text.substr(0, 4)) % 4 == 0;
}

// Removes a prefix such as "Nov 28 01:40:18 host kernel: ", or "host kernel: " after a time in brackets.
bool take_host(std::string_view& line, bool after_bracket) {
  constexpr std::size_t kLongest = 96;
  constexpr std::string_view kKernel = "kernel: ";
  const std::size_t at = line.substr(0, kLongest).find(kKernel);
  if (at == line.npos || (at > 0 && line[at - 1] != ' ')) return false;
  const std::string_view before = line.substr(0, at);
  const bool is_host = after_bracket && trim(before).find(' ') == before.npos;
  if (!is_host && !(starts_with_date(line) && std::ranges::count(before, ':') >= 2)) return false;
  line.remove_prefix(at + kKernel.size());
  return true;
}

// Removes a prefix of dmesg --decode such as "kern  :emerg : ".
bool take_facility(std::string_view& line) {
  if (!line.starts_with("kern")) return false;
  const std::size_t first = line.find(':');
  const std::size_t second = first > 6 ? line.npos : line.substr(0, 24).find(": ", first + 1);
  if (second == line.npos) return false;
  line.remove_prefix(second + 2);
  return true;
}

// -- other additions ----------------------------------------------------------------------------------------------

// Removes the number of a line: "12:" from grep -n, "12" and a tab from cat -n, or "12" and blanks before TASK-PID from
// a pager. Keeps a number right before an event, as in "5906771: kmem:kmalloc:" of perf script: it is a time.
std::string_view without_line_number(std::string_view line) {
  constexpr std::size_t kMostDigits = 9;
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t end = line.find_first_not_of(kDigits, begin);
  if (end == line.npos || end == begin || end - begin > kMostDigits) return line;
  const std::string_view rest = line.substr(end + 1);
  const bool is_time = rest.starts_with(' ') && trim(rest).starts_with("kmem:");
  if (line[end] == '\t' || (line[end] == ':' && begin == 0 && !rest.starts_with(':') && !is_time)) return rest;
  if (line[end] != ' ') return line;
  const std::string_view text = trim(rest);
  const std::string_view word = text.substr(0, text.find(' '));
  const std::size_t dash = word.rfind('-');
  return dash != word.npos && dash > 0 && is_all(word.substr(dash + 1), kDigits) ? rest : line;
}

// Removes the "+" of a line that a patch adds. Keeps a "+" before a type of one letter or digit, such as "K" or "0",
// which kmemtrace's tracer of 2009 prints.
std::string_view without_diff_mark(std::string_view line) {
  if (!line.starts_with('+')) return line;
  const std::size_t begin = line.find_first_not_of(' ', 1);
  const std::size_t end = begin == line.npos ? begin : line.find(' ', begin);
  return end != line.npos && end - begin > 1 ? line.substr(1) : line;
}

// Removes "//" and "*" of comments in source code before a line. A blank must follow.
std::string_view without_comment_mark(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view mark : {"// ", "* "})
    if (text.starts_with(mark)) return text.substr(mark.size() - 1);
  return line;
}

// Removes marks that program text has at the end of a line: quotation marks, ";", "\\", "$" and "\\n". Also removes the
// quotation mark at the start. Keeps the ";" of a call, as in "f();".
std::string_view without_end_marks(std::string_view line) {
  constexpr std::string_view kQuotes = "\"'`";
  std::string_view kept = line;
  while (!kept.empty()) {
    const char last = kept.back();
    const char before = kept.size() > 1 ? kept[kept.size() - 2] : ' ';
    const bool is_mark = last == '\\' || last == '$' || (last == ';' && before != ')') ||
                         (last == ',' && kQuotes.find(before) != kQuotes.npos) || kQuotes.find(last) != kQuotes.npos;
    if (is_mark)
      kept.remove_suffix(1);
    else if (kept.size() < line.size() && (last == ' ' || kept.ends_with("\\n")))
      kept.remove_suffix(last == ' ' ? 1 : 2);
    else
      break;
  }
  const std::size_t begin = std::min(kept.find_first_not_of(' '), kept.size());
  const bool is_quoted = kept.size() < line.size() && begin < kept.size() && kQuotes.find(kept[begin]) != kQuotes.npos;
  return is_quoted ? kept.substr(begin + 1) : kept;
}

// Removes colours, such as "\e[01;31m". Replaces tabs and non-breaking blanks. In Latin-1, such a blank is 0xA0, which
// in UTF-8 never follows an ASCII character.
std::string with_plain_characters(std::string_view line) {
  std::string out;
  bool after_ascii = true;
  out.reserve(line.size());
  while (!line.empty()) {
    std::size_t taken = 1;
    if (line.starts_with("\x1B[")) {
      taken = std::min(line.find_first_not_of("0123456789;", 2), line.size() - 1) + 1;
    } else if (line.starts_with(kNonBreaking)) {
      taken = kNonBreaking.size();
      out += ' ';
    } else {
      const bool is_blank = line.front() == '\t' || (line.front() == '\xA0' && after_ascii);
      out += is_blank ? ' ' : line.front();
    }
    after_ascii = taken > 1 || static_cast<unsigned char>(out.back()) < 0x80;
    line.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::string without_entities(std::string_view text) {
  constexpr std::size_t kLongest = 10;
  std::string out;
  while (!text.empty()) {
    const std::size_t mark = std::min(text.find('&'), text.size());
    out += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    const std::size_t end = text.substr(0, kLongest).find(';');
    const auto code = end == text.npos ? std::nullopt : character_of(text.substr(1, end - 1));
    append_utf8(out, code.value_or('&'));
    text.remove_prefix(code ? end + 1 : 1);
  }
  return out;
}

std::string_view without_log_prefix(std::string_view line) {
  constexpr unsigned kMostParts = 6;
  bool after_bracket = false;
  for (unsigned i = 0; i < kMostParts && !line.empty() && line.front() != ' '; ++i) {
    const char first = line.front();
    const bool is_bracket = first == '[' && take_bracket(line);
    const bool is_digit = std::isdigit(static_cast<unsigned char>(first)) != 0;
    if (!is_bracket && !(first == '<' && take_level(line)) && !(is_digit && take_kmsg(line)) && !take_facility(line) &&
        !take_host(line, after_bracket))
      break;
    after_bracket = after_bracket || is_bracket;
  }
  return line;
}

std::string_view clean_line(std::string_view line, std::string& buffer) {
  if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  while (line.ends_with('\r')) line.remove_suffix(1);
  constexpr std::string_view kEndMarks = "\"'`;,\\$";
  if (!line.empty() && kEndMarks.find(line.back()) != kEndMarks.npos) line = without_end_marks(line);
  const bool is_plain = std::ranges::none_of(line, [](unsigned char c) { return kRewritten[c]; });
  if (!is_plain && line.find('&') != line.npos) {
    buffer = without_entities(line);
    line = buffer;
  }
  line = without_diff_mark(without_quotes(line));
  line = without_line_number(without_comment_mark(line));
  if (!is_plain) {
    buffer = with_plain_characters(line);
    line = buffer;
  }
  return without_log_prefix(line);
}

}  // namespace kmt::text
