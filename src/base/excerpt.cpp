// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/excerpt.hpp"

#include "base/text.hpp"

namespace kmt {

std::string excerpt(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return printable(text);
  std::size_t end = most_bytes;
  constexpr unsigned kContinuation = 0x80, kKind = 0xC0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & kKind) == kContinuation) --end;  // not within a character
  return printable(text.substr(0, end)) + "…";
}

}  // namespace kmt
