// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.hpp"

#include <fnmatch.h>

#include <fmt/format.h>

namespace kmt {

namespace {

// Returns the length of the UTF-8 sequence at the start of the text. Returns 0 for an invalid sequence (RFC 3629,
// section 4), and for C1 control characters, because terminals obey them.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&byte](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) && !(first == 0xC2 && byte(1) < 0xA0) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_length(text);
    if (length == 0 || first < 0x20 || first == 0x7F) {
      safe += fmt::format("\\x{:02x}", first);
      text.remove_prefix(1);
    } else {
      safe += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return safe;
}

std::string excerpt(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return printable(text);
  std::size_t end = most_bytes;
  constexpr unsigned kContinuation = 0x80, kKind = 0xC0;
  // Move the cut to the start of a UTF-8 character.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & kKind) == kContinuation) --end;
  return printable(text.substr(0, end)) + "…";
}

std::size_t columns_of(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0u) != 0x80u ? 1 : 0;
  return count;
}

bool glob_match(const std::string& pattern, const std::string& text) {
  return ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string first_of(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

}  // namespace kmt
