// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/time.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Removes a number and the separator after it from the front of the text, and returns the number.
std::optional<int> take_field(std::string_view& text, char separator) {
  std::string_view left = text;
  const auto number = take_number<int>(left);
  if (!number || *number < 0 || !left.starts_with(separator)) return std::nullopt;
  text = left.substr(1);
  return number;
}

// Removes the digits of a fraction from the front of the text, and returns the fraction of a second in nanoseconds.
std::uint64_t take_fraction(std::string_view& text) {
  std::uint64_t fraction = 0;
  for (std::uint64_t unit = kSecond; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    unit /= 10;
    fraction += static_cast<std::uint64_t>(text.front() - '0') * unit;
  }
  return fraction;
}

struct Date {
  int year = 2000;
  int month = 0;  // 0: January
  int day = 0;
};

// Returns the start of a day in seconds since 1970.
std::uint64_t unix_seconds(const Date& date) {
  std::tm fields{};
  fields.tm_year = date.year - 1900;
  fields.tm_mon = date.month;
  fields.tm_mday = date.day;
  return static_cast<std::uint64_t>(std::max<std::time_t>(::timegm(&fields), 0));
}

// Removes "HH:MM:SS[.fraction]" from the front of the text. Returns this time of the given date, in nanoseconds since
// 1970.
std::optional<std::uint64_t> take_time(std::string_view& text, const Date& date) {
  std::string_view left = text;
  const auto hour = take_field(left, ':');
  const auto minute = take_field(left, ':');
  const auto second = take_number<int>(left);
  constexpr int kFirstYear = 1970;
  constexpr int kLastYear = 2200;
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second < 0 || *second > 60 ||
      date.year < kFirstYear || date.year > kLastYear)
    return std::nullopt;
  std::uint64_t fraction = 0;
  if (left.starts_with('.') || left.starts_with(',')) {
    left.remove_prefix(1);
    fraction = take_fraction(left);
  }
  text = left;
  const int seconds = *hour * 3600 + *minute * 60 + *second;
  return (unix_seconds(date) + static_cast<std::uint64_t>(seconds)) * kSecond + fraction;
}

std::optional<int> month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::ranges::find(kMonths, name);
  return found == kMonths.end() ? std::nullopt : std::optional(static_cast<int>(found - kMonths.begin()));
}

}  // namespace

std::optional<std::uint64_t> seconds_of(std::string_view text) {
  constexpr std::uint64_t kMost = 10'000'000'000;  // in seconds, about 300 years
  const auto whole = take_number<std::uint64_t>(text);
  if (!whole || *whole >= kMost || !text.starts_with('.') || text.size() < 2) return std::nullopt;
  text.remove_prefix(1);
  const std::uint64_t fraction = take_fraction(text);
  return text.empty() ? std::optional(*whole * kSecond + fraction) : std::nullopt;
}

bool is_weekday(std::string_view name) {
  constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  return std::ranges::find(kDays, name) != kDays.end();
}

std::optional<LogTime> take_iso_time(std::string_view& text) {
  std::string_view left = text;
  if (is_weekday(left.substr(0, 3)) && left.substr(3).starts_with(' ')) left.remove_prefix(4);  // "Mon 2023-01-02 …"
  const auto year = take_field(left, '-');
  const auto month = take_field(left, '-');
  const auto day = take_number<int>(left);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > 31 || left.empty() ||
      (left.front() != 'T' && left.front() != ' '))
    return std::nullopt;
  left.remove_prefix(1);
  const auto time = take_time(left, {*year, *month - 1, *day});
  if (!time) return std::nullopt;
  LogTime found{.unix_ns = *time};
  constexpr std::string_view kUtc = " UTC ";
  if (left.starts_with('Z')) found.has_zone = true;
  if (left.starts_with(kUtc)) {
    found.has_zone = true;
    left.remove_prefix(kUtc.size() - 1);
  }
  if (!left.empty() && (left.front() == '+' || left.front() == '-')) {
    const bool east = left.front() == '+';
    found.has_zone = true;
    // Minutes of the time zone: "30" or ":30".
    const std::string_view minutes = left.substr(std::min<std::size_t>(left.size(), 3));
    const std::uint64_t offset =
        (leading_number(left.substr(1, 2)).value_or(0) * 3600 +
         leading_number(minutes.substr(minutes.starts_with(':') ? 1 : 0, 2)).value_or(0) * 60) *
        kSecond;
    found.unix_ns = east ? *time - std::min(offset, *time) : *time + offset;
  }
  text = left.substr(std::min(left.find(' '), left.size()));
  return found;
}

std::optional<LogTime> take_named_time(std::string_view& text) {
  Words words(text);
  std::string_view name = words.next();
  const bool has_weekday = is_weekday(name);
  if (has_weekday) name = words.next();
  const auto month = month_of(name);
  const auto day = month ? whole_number(words.next()) : std::nullopt;
  if (!day || *day < 1 || *day > 31) return std::nullopt;
  std::string_view left = words.rest();
  Words after(left);
  after.next();
  const auto year = has_weekday ? leading_number(after.next()) : std::nullopt;
  constexpr std::uint64_t kMostYear = 9999;
  if (year && *year > kMostYear) return std::nullopt;
  Date date{.month = *month, .day = static_cast<int>(*day)};
  if (year) date.year = static_cast<int>(*year);
  const auto time = take_time(left, date);
  if (!time) return std::nullopt;
  text = year ? after.rest() : left;
  return LogTime{.unix_ns = *time, .has_year = year.has_value()};
}

std::optional<LogTime> take_month_day_time(std::string_view& text) {
  std::string_view left = text;
  const auto month = take_field(left, '-');
  const auto day = month ? take_field(left, ' ') : std::nullopt;
  if (!day || *month < 1 || *month > 12 || *day < 1 || *day > 31) return std::nullopt;
  const auto time = take_time(left, {.month = *month - 1, .day = *day});
  if (!time) return std::nullopt;
  text = left;
  return LogTime{.unix_ns = *time, .has_year = false};
}

std::optional<LogTime> minute_of(std::string_view text) {
  const auto month = month_of(text.substr(0, 3));
  if (!month) return std::nullopt;
  std::string_view left = trim(text.substr(3));
  const auto day = take_field(left, ' ');
  const auto hour = day ? take_field(left, ':') : std::nullopt;
  const auto minute = hour ? parse_number<int>(left) : std::nullopt;
  if (!minute || *day < 1 || *day > 31 || *hour > 23 || *minute < 0 || *minute > 59) return std::nullopt;
  const std::uint64_t midnight = unix_seconds({.month = *month, .day = *day});
  const int seconds = (*hour * 60 + *minute) * 60;
  return LogTime{.unix_ns = (midnight + static_cast<std::uint64_t>(seconds)) * kSecond, .has_year = false};
}

}  // namespace kmt
