// SPDX-License-Identifier: GPL-2.0-or-later
// Encodings of text: UTF-8, and the quoted-printable text of mails.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/number.hpp"
#include "base/words.hpp"

namespace kmt {

// Appends the Unicode character as UTF-8. Numbers that are not characters become U+FFFD.
inline void append_utf8(std::string& out, std::uint32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

// Decodes quoted-printable text (RFC 2045): "=3D" is "=", and "=" at the end of a line joins it with the next one. A
// text without "=3D" is not encoded: in it, lines are joined, but all other "=" stay.
inline std::string decode_quoted_printable(std::string_view text) {
  const bool has_codes = text.find("=3D") != text.npos;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t mark = std::min(text.find('='), text.size());
    out += text.substr(0, mark);
    text.remove_prefix(mark);
    if (text.empty()) break;
    text.remove_prefix(1);
    const std::size_t end = text.find_first_not_of(" \t\r");
    const std::string_view digits = text.substr(0, 2);
    const bool is_code = has_codes && digits.size() == 2 && digits.find_first_not_of("0123456789ABCDEF") == text.npos;
    const auto code = is_code ? parse_number<std::uint8_t>(digits, 16) : std::nullopt;
    if (end != text.npos && text[end] == '\n') {
      text = without_quotes(text.substr(end + 1));  // remove "> " marks from the joined line
    } else if (code) {
      out += static_cast<char>(*code);
      text.remove_prefix(2);
    } else {
      out += '=';
    }
  }
  return out;
}

}  // namespace kmt
