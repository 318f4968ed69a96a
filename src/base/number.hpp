// SPDX-License-Identifier: GPL-2.0-or-later
// Parses numbers in text, and adds them. A parser returns nothing if there is no number, or if it is too large for T.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace kmt {

// Removes the number at the start of the text and returns it.
template <typename T>
std::optional<T> take_number(std::string_view& text, int base = 10) {
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// Parses the number at the start of the text. Anything may follow.
template <typename T>
std::optional<T> parse_leading(std::string_view text, int base = 10) {
  return take_number<T>(text, base);
}

// Parses a number. Returns nothing if anything follows the number.
template <typename T>
std::optional<T> parse_number(std::string_view text, int base = 10) {
  const std::optional<T> value = take_number<T>(text, base);
  return text.empty() ? value : std::nullopt;
}

// Parses a number into a variable. The variable does not change if the text is not a number.
template <typename T>
bool parse_number(std::string_view text, T& value, int base = 10) {
  const std::optional<T> number = parse_number<T>(text, base);
  value = number.value_or(value);
  return number.has_value();
}

// Parses a hexadecimal number, with or without "0x". Returns nothing if anything follows the number.
inline std::optional<std::uint64_t> parse_hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return parse_number<std::uint64_t>(text, 16);
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the sum, or the largest number if the sum would overflow. Counts from a damaged file may be very large, and
// an overflow would make the sum look small.
constexpr std::uint64_t sum_of_counts(std::uint64_t a, std::uint64_t b) { return a + std::min(b, UINT64_MAX - a); }

}  // namespace kmt
