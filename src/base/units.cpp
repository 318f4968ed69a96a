// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt {

namespace {

// Maximum duration. The time of any clock plus this duration, in nanoseconds, fits into 63 bits.
constexpr int kMostHours = 1'000'000;

struct Quantity {
  double number;
  std::string_view suffix;
};

Quantity split_quantity(std::string_view text, const char* what, const char* examples) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (code != std::errc{} || !std::isfinite(number) || number < 0)
    throw Error(fmt::format("\"{}\" is not a {}", text, what)).hint(fmt::format("Write it as {}", examples));
  return {number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

std::uint64_t scaled(const Quantity& quantity, double factor, std::string_view text) {
  const double value = quantity.number * factor;
  if (value >= 0x1p64) throw Error(fmt::format("\"{}\" is too large", text));
  return static_cast<std::uint64_t>(std::llround(value));
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
  const Quantity quantity = split_quantity(text, "size", "4096, 512k, 64M or 1.5G");
  std::string_view unit = quantity.suffix;
  if (unit.ends_with("iB"))
    unit.remove_suffix(2);
  else if (unit.ends_with('B') || unit.ends_with('b'))
    unit.remove_suffix(1);
  if (unit.empty()) return scaled(quantity, 1, text);
  if (unit == "k" || unit == "K") return scaled(quantity, 1024.0, text);
  if (unit == "m" || unit == "M") return scaled(quantity, 1024.0 * 1024, text);
  if (unit == "g" || unit == "G") return scaled(quantity, 1024.0 * 1024 * 1024, text);
  if (unit == "t" || unit == "T") return scaled(quantity, 1024.0 * 1024 * 1024 * 1024, text);
  throw Error(fmt::format("\"{}\" is not a size: unknown unit \"{}\"", text, quantity.suffix))
      .hint("Units are k, M, G and T, powers of 1024");
}

std::uint64_t parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {
      {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}}};
  const Quantity quantity = split_quantity(text, "time", "10s, 1.5s, 200ms, 5m or 1h");
  const auto* const unit = std::ranges::find(kUnits, quantity.suffix, &decltype(kUnits)::value_type::first);
  if (unit == kUnits.end())
    throw Error(fmt::format("\"{}\" is not a time: unknown unit \"{}\"", text, quantity.suffix))
        .hint("Units are ns, us, ms, s, m and h");
  const double nanoseconds = quantity.number * unit->second;
  if (nanoseconds > kMostHours * 3600e9)
    throw Error(fmt::format("\"{}\" is too large", text)).hint(fmt::format("The maximum is {}h", kMostHours));
  return static_cast<std::uint64_t>(std::llround(nanoseconds));
}

std::string humane_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string humane_count(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string humane_duration(std::uint64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  if (nanoseconds < 1'000'000) return fmt::format("{:.1f} us", value / 1e3);
  if (nanoseconds < 1'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  if (nanoseconds < 120'000'000'000) return fmt::format("{:.3f} s", value / 1e9);
  const std::uint64_t seconds = nanoseconds / 1'000'000'000;
  if (seconds < 7200) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

}  // namespace kmt
