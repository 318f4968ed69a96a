// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/kernel_log.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <string>

#include "base/text.hpp"
#include "base/words.hpp"

namespace kmt {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parses "123.456789" as nanoseconds.
std::optional<std::uint64_t> seconds_of(std::string_view text) {
  constexpr std::uint64_t kMost = 10'000'000'000;  // 300 years
  const auto whole = take_number<std::uint64_t>(text);
  if (!whole || *whole >= kMost || !text.starts_with('.') || text.size() < 2) return std::nullopt;
  std::uint64_t fraction = 0;
  std::uint64_t unit = kSecond;
  for (const char digit : text.substr(1)) {
    if (!is_digit(digit)) return std::nullopt;
    unit /= 10;
    fraction += static_cast<std::uint64_t>(digit - '0') * unit;
  }
  return *whole * kSecond + fraction;
}

// Removes a number and the separator after it from the front of the text, and returns the number.
std::optional<int> take_field(std::string_view& text, char separator) {
  std::string_view left = text;
  const auto number = take_number<int>(left);
  if (!number || *number < 0 || !left.starts_with(separator)) return std::nullopt;
  text = left.substr(1);
  return number;
}

struct Date {
  int year = 2000;
  int month = 0;  // 0: January
  int day = 0;
};

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
  std::tm fields{};
  fields.tm_year = date.year - 1900;
  fields.tm_mon = date.month;
  fields.tm_mday = date.day;
  fields.tm_hour = *hour;
  fields.tm_min = *minute;
  fields.tm_sec = *second;
  const std::time_t time = ::timegm(&fields);
  std::uint64_t fraction = 0;
  if (left.starts_with('.') || left.starts_with(',')) {
    std::uint64_t unit = kSecond;
    for (left.remove_prefix(1); !left.empty() && is_digit(left.front()); left.remove_prefix(1)) {
      unit /= 10;
      fraction += static_cast<std::uint64_t>(left.front() - '0') * unit;
    }
  }
  text = left;
  return static_cast<std::uint64_t>(std::max<std::time_t>(time, 0)) * kSecond + fraction;
}

std::optional<int> month_of(std::string_view name) {
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto* const found = std::ranges::find(kMonths, name);
  return found == kMonths.end() ? std::nullopt : std::optional(static_cast<int>(found - kMonths.begin()));
}

bool is_weekday(std::string_view name) {
  constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  return std::ranges::find(kDays, name) != kDays.end();
}

// Removes a time such as "2023-01-02T03:04:05.678+0100" from the front of the text, and stores it in the message.
bool take_iso_time(std::string_view& text, LogMessage& message) {
  std::string_view left = text;
  const auto year = take_field(left, '-');
  const auto month = take_field(left, '-');
  const auto day = take_number<int>(left);
  if (!year || !month || !day || *month < 1 || *month > 12 || *day < 1 || *day > 31 || left.empty() ||
      (left.front() != 'T' && left.front() != ' '))
    return false;
  left.remove_prefix(1);
  const auto time = take_time(left, {*year, *month - 1, *day});
  if (!time) return false;
  message.wall_ns = *time;
  if (!left.empty() && (left.front() == '+' || left.front() == '-')) {
    const bool east = left.front() == '+';
    // Minutes of the time zone: "30" or ":30".
    const std::string_view minutes = left.substr(std::min<std::size_t>(left.size(), 3));
    const std::uint64_t offset =
        (leading_number(left.substr(1, 2)).value_or(0) * 3600 +
         leading_number(minutes.substr(minutes.starts_with(':') ? 1 : 0, 2)).value_or(0) * 60) *
        kSecond;
    message.wall_ns = east ? *time - std::min(offset, *time) : *time + offset;
  }
  text = left.substr(std::min(left.find(' '), left.size()));
  return true;
}

// Removes a time such as "Jan  2 03:04:05" or "Mon Jan  2 03:04:05 2023" from the front of the text, and stores it in
// the message.
bool take_named_time(std::string_view& text, LogMessage& message) {
  Words words(text);
  std::string_view name = words.next();
  const bool has_weekday = is_weekday(name);
  if (has_weekday) name = words.next();
  const auto month = month_of(name);
  const auto day = month ? whole_number(words.next()) : std::nullopt;
  if (!day || *day < 1 || *day > 31) return false;
  std::string_view left = words.rest();
  Words after(left);
  after.next();
  const auto year = has_weekday ? leading_number(after.next()) : std::nullopt;
  constexpr std::uint64_t kMostYear = 9999;
  if (year && *year > kMostYear) return false;
  Date date{.month = *month, .day = static_cast<int>(*day)};
  if (year) date.year = static_cast<int>(*year);
  const auto time = take_time(left, date);
  if (!time) return false;
  if (year) left = after.rest();
  message.wall_ns = *time;
  message.has_year = year.has_value();
  text = left;
  return true;
}

// Removes "[  123.456789]", "[Mon Jan  2 03:04:05 2023]" or "[    T123]" from the front of the text. Keeps "[  123]",
// which starts a line of the task table in a report of an OOM kill.
bool take_brackets(std::string_view& text, LogMessage& message) {
  const std::size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return false;
  std::string_view inside = trim(text.substr(1, end - 1));
  if (const auto time = seconds_of(inside)) {
    message.boot_ns = time;
  } else if (inside.size() > 1 && (inside.front() == 'T' || inside.front() == 'C') && is_digit(inside[1])) {
    // the task ("T") or CPU ("C") that printed the message
  } else if (!is_weekday(inside.substr(0, 3)) || !take_named_time(inside, message)) {
    return false;
  }
  text.remove_prefix(end + 1);
  return true;
}

// Removes the log level from the front of the text: "<4>", or "kern  :warn  :" as printed by `dmesg --decode`.
bool take_level(std::string_view& text) {
  if (text.starts_with('<')) {
    const std::size_t end = text.find('>');
    constexpr std::size_t kMost = 5;
    if (end > kMost || !std::ranges::all_of(text.substr(1, end - 1), is_digit)) return false;
    text.remove_prefix(end + 1);
    return true;
  }
  if (!text.starts_with("kern")) return false;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  constexpr std::size_t kMost = 20;
  if (second > kMost || trim(text.substr(0, first)) != "kern") return false;
  text.remove_prefix(second + 1);
  return true;
}

// Removes the host name and "kernel:" from the front of the text, as in "host kernel: message".
bool take_host(std::string_view& text) {
  constexpr std::string_view kKernel = "kernel:";
  constexpr std::size_t kMost = 120;
  const std::size_t at = text.substr(0, kMost).find(kKernel);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != ' ')) return false;
  text.remove_prefix(at + kKernel.size());
  return true;
}

LogMessage message_of(std::string_view line) {
  LogMessage message;
  bool had_host = false;
  for (bool changed = true; changed;) {
    line = trim(line);
    changed = false;
    while (line.starts_with("> ") || line.starts_with(">>")) line = trim(line.substr(1)), changed = true;
    changed = take_level(line) || take_brackets(line, message) || take_iso_time(line, message) ||
              take_named_time(line, message) || changed;
    if (!changed && !had_host) changed = had_host = take_host(line);
  }
  message.text = line;
  return message;
}

// Returns the string value of a key in a line of JSON. Replaces escape sequences by the characters that they mean.
std::optional<std::string> json_text(std::string_view line, std::string_view key) {
  const std::string name = '"' + std::string(key) + '"';
  std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  at = line.find_first_not_of(" :", at + name.size());
  if (at == std::string_view::npos || line[at] != '"') return std::nullopt;
  std::string value;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      value += line[at];
      continue;
    }
    ++at;
    value += line[at] == 'n' ? '\n' : line[at] == 't' ? '\t' : line[at];
  }
  return value;
}

// Replaces escaped line breaks, as written by rsyslog ("#012") and dmesg ("\x0a"), and removes control characters.
void clean(std::string_view line, std::string& out) {
  constexpr std::string_view kBreaks[] = {"#012", "\\x0a", "\\n"};
  out.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view left = line.substr(i);
    const auto* const found =
        std::ranges::find_if(kBreaks, [&](std::string_view one) { return left.starts_with(one); });
    if (found != std::end(kBreaks)) {
      out += '\n';
      i += found->size() - 1;
    } else if (left.starts_with("\x1b[")) {
      i += std::min(left.find_first_of("mKHJ"), left.size() - 1);
    } else if (line[i] == '\r' || line[i] == '\0') {
      continue;
    } else {
      out += line[i];
    }
  }
}

// Passes messages to `take`. Joins the parts of lines that a mail program wrapped. If only the first part has a time,
// the next line is such a part.
class Joiner {
 public:
  explicit Joiner(const std::function<void(const LogMessage&)>& take) : take_(take) {}

  void add(LogMessage message, std::size_t length) {
    constexpr std::size_t kShortest = 55;  // length of a line that a mail program wrapped
    constexpr std::size_t kLongest = 100;
    constexpr std::size_t kMost = 1 << 16;  // length of a joined message
    const bool has_time = message.boot_ns || message.wall_ns;
    const bool was_wrapped = last_length_ >= kShortest && last_length_ <= kLongest;
    last_length_ = length;
    if (!has_time && had_time_ && was_wrapped && text_.size() < kMost) {
      text_.append(" ").append(message.text);
      return;
    }
    flush();
    if (!has_time) {  // lines without a time belong to the previous message
      message.boot_ns = held_.boot_ns;
      message.wall_ns = held_.wall_ns;
      message.has_year = held_.has_year;
    }
    had_time_ = has_time;
    text_ = message.text;
    held_ = message;
    is_held_ = true;
  }
  void flush() {
    if (!is_held_) return;
    held_.text = text_;
    take_(held_);
    is_held_ = false;
  }

 private:
  const std::function<void(const LogMessage&)>& take_;
  LogMessage held_;
  std::string text_;
  std::size_t last_length_ = 0;
  bool had_time_ = false;
  bool is_held_ = false;
};

}  // namespace

void each_log_message(std::string_view log, const std::function<void(const LogMessage&)>& take) {
  constexpr std::size_t kMostOfALine = 1 << 16;
  std::string cleaned;
  Joiner joiner(take);
  each_line(log, [&](std::string_view line) {
    line = line.substr(0, kMostOfALine);
    std::optional<std::uint64_t> wall_ns;
    std::optional<std::string> from_json;
    if (line.starts_with('{') && (from_json = json_text(line, "MESSAGE"))) {
      if (const auto micros = json_text(line, "__REALTIME_TIMESTAMP")) wall_ns = whole_number(*micros);
      line = *from_json;
    }
    if (line.starts_with("MESSAGE=")) line.remove_prefix(8);
    const bool is_clean = line.find_first_of(std::string_view("\r\x1b#\\\0", 5)) == std::string_view::npos;
    if (!is_clean) {
      clean(line, cleaned);
      line = cleaned;
    }
    each_line(line, [&](std::string_view part) {
      LogMessage message = message_of(part);
      if (wall_ns && *wall_ns < UINT64_MAX / 1000) message.wall_ns = *wall_ns * 1000;
      joiner.add(message, part.size());
    });
  });
  joiner.flush();
}

}  // namespace kmt
