// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the times in front of messages of the kernel's log.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kmt {

// A time on the wall clock.
struct LogTime {
  std::uint64_t unix_ns = 0;  // from an arbitrary year if `has_year` is false
  bool has_year = true;
  bool has_zone = false;  // true: the text names its time zone; false: `unix_ns` is computed as if the time were UTC
};

// Parses "123.456789" as nanoseconds.
std::optional<std::uint64_t> seconds_of(std::string_view text);

// Removes "2023-01-02T03:04:05.678+0100 " and similar times from the front. A weekday may precede the time.
std::optional<LogTime> take_iso_time(std::string_view& text);

// Removes "Jan  2 03:04:05", "Mon Jan  2 03:04:05 2023" and similar times from the front.
std::optional<LogTime> take_named_time(std::string_view& text);

// Parses the time without seconds of `dmesg --reltime`: "Jan 2 03:04" or "Jan12 03:04".
std::optional<LogTime> minute_of(std::string_view text);

// Removes "01-31 23:59:59.123" (Android's logcat) from the front of the text, and returns the time, without a year.
std::optional<LogTime> take_month_day_time(std::string_view& text);

bool is_weekday(std::string_view name);

}  // namespace kmt
