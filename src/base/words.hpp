// SPDX-License-Identifier: GPL-2.0-or-later
// Splits the kernel's text files into lines, words and numbers. The results point into the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/number.hpp"

namespace kmt {

// Larger numbers, in any unit, cannot be amounts of memory. The sum of a hundred numbers up to this limit does not
// overflow.
constexpr std::uint64_t kMostNumber = std::uint64_t{1} << 56;

// leading_number() parses a number at the start of the text; whole_number() requires that the whole text is a number.
inline std::optional<std::uint64_t> leading_number(std::string_view text) {
  const auto value = parse_leading<std::uint64_t>(text);
  return value <= kMostNumber ? value : std::nullopt;
}
inline std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most = kMostNumber) {
  const auto value = parse_number<std::uint64_t>(text);
  return value <= most ? value : std::nullopt;
}

// Takes words from the start of a line. Words are separated by blanks and tabs.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) { skip(); }
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view next() {
    const std::size_t end = std::min(rest_.find_first_of(" \t"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    skip();
    return word;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string_view rest_;
};

// Calls take(line) for each line of the text, without the line break.
template <typename Take>
void each_line(std::string_view text, Take&& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// Removes the marks of quoted mail from the front, such as "> >> ".
inline std::string_view without_quotes(std::string_view line) {
  while (line.starts_with('>')) line.remove_prefix(line.starts_with("> ") ? 2 : 1);
  return line;
}

}  // namespace kmt
