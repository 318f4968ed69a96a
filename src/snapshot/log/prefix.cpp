// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/prefix.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/time.hpp"

namespace kmt {

namespace {

void set_wall_time(LogMessage& message, const LogTime& time) {
  message.wall_ns = time.unix_ns;
  message.has_year = time.has_year;
  message.has_zone = time.has_zone;
}

// True for "T123" (a task) and "C1" (a CPU): the task or CPU that printed the message.
bool is_caller(std::string_view word) {
  return word.size() > 1 && (word.front() == 'T' || word.front() == 'C') && is_digit(word[1]);
}

// Removes the CPU or task that the kernels of some phone vendors add after the time. Samsung's form is "[0:  comm:
// 123]", which may follow a letter. MediaTek's form is "(0)[123:comm]", and Huawei's is "[pid:123,cpu4,comm]". The
// caller is the task without the CPU, which may change within a report.
bool take_vendors_caller(std::string_view& text, PrefixedLine& line) {
  std::string_view left = text;
  if (left.starts_with('-')) left.remove_prefix(1);
  const bool has_cpu = left.size() > 3 && left.front() == '(' && is_digit(left[1]) && left.find(")[") < 5;
  if (has_cpu) left.remove_prefix(left.find('['));
  if (!left.starts_with('[') && left.size() > 1 && left.front() >= 'A' && left.front() <= 'Z') left.remove_prefix(1);
  const std::size_t end = left.find(']');
  constexpr std::size_t kMost = 48;
  if (!left.starts_with('[') || end > kMost) return false;
  const std::string_view inside = trim(left.substr(1, end - 1));
  const std::size_t first = inside.find_first_of(":,");
  const std::size_t last = inside.rfind(':');
  if (first == inside.npos) return false;
  if (inside.starts_with("pid:"))
    line.message.caller = inside.substr(0, inside.find(','));
  else if (has_cpu && whole_number(inside.substr(0, first)))
    line.message.caller = inside;
  else if (first != last && whole_number(inside.substr(0, first)) && whole_number(trim(inside.substr(last + 1))))
    line.message.caller = trim(inside.substr(first + 1));
  else
    return false;
  text = left.substr(end + 1);
  return true;
}

// Removes a prefix of Android's logcat: "01-31 23:59:59.123  0  0 W kernel  : " or "W/kernel  (    0): ".
bool take_logcat(std::string_view& text, LogMessage& message) {
  constexpr std::string_view kLevels = "VDIWEF";
  constexpr std::size_t kMost = 80;
  std::string_view left = text;
  const auto time = take_month_day_time(left);
  Words words(left);
  std::string_view word = words.next();
  const auto is_task = [](std::string_view one) { return whole_number(one) || one == "root"; };
  for (unsigned fields = 0; time && fields < 3 && is_task(word); ++fields) word = words.next();
  const bool has_level = !word.empty() && kLevels.find(word.front()) != kLevels.npos;
  const bool has_tag = word.size() > 1 && word[1] == '/';
  if (!has_level || (word.size() != 1 && !has_tag) || (!time && !has_tag)) return false;
  const std::string_view rest = left.substr(static_cast<std::size_t>(word.data() - left.data()));
  const std::size_t end = rest.find(has_tag ? "): " : ": ");
  if (end > kMost) return false;
  if (has_tag && !whole_number(trim(rest.substr(0, end).substr(rest.substr(0, end).rfind('(') + 1)))) return false;
  if (time) set_wall_time(message, *time);
  text = rest.substr(end + (has_tag ? 3 : 2));
  return true;
}

// Removes a prefix of `talosctl dmesg`: "10.0.0.2: kern: warning: [2024-03-01T10:00:00.123456789Z]: ".
bool take_talos(std::string_view& text, LogMessage& message) {
  constexpr std::size_t kMost = 80;
  const std::size_t at = text.substr(0, kMost).find("kern:");
  const std::size_t open = text.substr(0, kMost).find(": [");
  if (at == text.npos || open == text.npos || open < at) return false;
  if (at != 0 && text.substr(0, at).find(": ") != at - 2) return false;
  std::string_view inside = text.substr(open + 3);
  const std::size_t end = inside.find("]: ");
  if (end > kMost) return false;
  std::string_view rest = inside.substr(end + 3);
  inside = inside.substr(0, end);
  const auto time = take_iso_time(inside);
  if (!time) return false;
  set_wall_time(message, *time);
  if (at != 0) message.host = text.substr(0, at - 2);
  text = rest;
  return true;
}

// Takes the time in "[  123.456789]", "[Mon Jan  2 03:04:05 2023]", "[  123.456789 <    0.000012>]", "[Jan 2 03:04]",
// "[  +0.000012]" and "[<    0.000012>]".
bool take_time_inside(std::string_view inside, PrefixedLine& line) {
  const std::size_t angle = inside.find('<');
  const std::string_view delta =
      angle == inside.npos ? "" : trim(inside.substr(angle + 1, inside.find('>') - angle - 1));
  inside = trim(inside.substr(0, std::min(angle, inside.find(" / "))));  // "[  123.456789 / 01-31 23:59:59.123]"
  if (const auto time = seconds_of(inside)) {
    line.message.boot_ns = time;
  } else if (inside.starts_with('+') || (inside.empty() && !delta.empty())) {
    line.delta_ns = seconds_of(inside.empty() ? delta : inside.substr(1));
    return line.delta_ns.has_value();
  } else if (const auto minute = minute_of(inside)) {
    set_wall_time(line.message, *minute);
  } else {
    const auto date = is_weekday(inside.substr(0, 3)) ? take_named_time(inside) : std::nullopt;
    if (!date) return false;
    set_wall_time(line.message, *date);
  }
  return true;
}

// Removes a time or a caller in brackets from the front. A number alone in brackets, as in "[  123]", is the number of
// a task and part of the message, so it stays.
bool take_brackets(std::string_view& text, PrefixedLine& line) {
  const std::size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos) return false;
  const std::string_view inside = trim(text.substr(1, end - 1));
  if (is_caller(inside))
    line.message.caller = inside;
  else if (!take_time_inside(inside, line))
    return false;
  text.remove_prefix(end + 1);
  // "[2]" immediately after the time is the number of the CPU
  const std::size_t cpu_end = text.substr(0, 5).find(']');
  if (text.starts_with('[') && cpu_end != text.npos && whole_number(text.substr(1, cpu_end - 1)))
    text.remove_prefix(cpu_end + 1);
  return true;
}

bool is_level(std::string_view word) {
  constexpr std::array<std::string_view, 8> kLevels = {"emerg", "alert",  "crit", "err",
                                                       "warn",  "notice", "info", "debug"};
  return std::ranges::find(kLevels, word) != kLevels.end();
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
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  constexpr std::size_t kMost = 20;
  if (second > kMost || !is_level(trim(text.substr(first + 1, second - first - 1)))) return false;
  text.remove_prefix(second + 1);
  return true;
}

// Removes a prefix of /dev/kmsg from the front, such as "4,1006,123456,-;" or "4,1006,123456,-,caller=T100;".
bool take_record(std::string_view& text, PrefixedLine& line) {
  std::string_view left = text;
  constexpr std::size_t kMost = 120;
  const std::size_t end = text.substr(0, kMost).find(';');
  if (end == std::string_view::npos || !is_digit(text.front())) return false;
  std::vector<std::string_view> fields = split(left.substr(0, end), ',');
  if (fields.front().find('.') != std::string_view::npos) fields.erase(fields.begin());  // "6.8.0," of netconsole
  constexpr std::uint64_t kMostMicros = UINT64_MAX / 1000;
  const auto micros = fields.size() < 4 ? std::nullopt : parse_number<std::uint64_t>(fields[2]);
  if (!micros || *micros > kMostMicros || !parse_number<std::uint64_t>(fields[0]) ||
      !parse_number<std::uint64_t>(fields[1]))
    return false;
  constexpr std::string_view kCaller = "caller=";
  for (const std::string_view field : fields)
    if (field.starts_with(kCaller)) line.message.caller = field.substr(kCaller.size());
  line.message.boot_ns = *micros * 1000;
  line.is_record = true;
  text.remove_prefix(end + 1);
  return true;
}

bool take_date(std::string_view& text, LogMessage& message) {
  auto time = take_iso_time(text);
  if (!time) time = take_named_time(text);
  if (time) set_wall_time(message, *time);
  return time.has_value();
}

// Removes a time of `journalctl -o short-unix` from the front, such as "1709287200.123456 ".
bool take_unix_time(std::string_view& text, LogMessage& message) {
  Words words(text);
  const auto time = is_digit(text.front()) ? seconds_of(words.next()) : std::nullopt;
  if (!time || words.rest().find("kernel:") == std::string_view::npos) return false;
  message.wall_ns = time;
  text = words.rest();
  return true;
}

// Removes fields of RFC 5424 such as "host kernel - - - ". The last field may be "[NAME KEY=\"VALUE\"]".
bool take_syslog_fields(std::string_view& text, LogMessage& message) {
  Words words(text);
  const std::string_view host = words.next();
  if (words.next() != "kernel") return false;
  words.next();
  words.next();
  std::string_view left = words.rest();
  if (left.starts_with("- "))
    left.remove_prefix(2);
  else if (left.starts_with('[') && left.find(']') != left.npos && left.find('=') < left.find(']'))
    left.remove_prefix(left.find(']') + 1);
  else
    return false;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (left.starts_with(kByteOrderMark)) left.remove_prefix(kByteOrderMark.size());
  text = left;
  message.host = host;
  return true;
}

// Removes "kern.warn" from the end: facility and level, as written by busybox and rsyslog.
std::string_view without_facility(std::string_view text) {
  const std::string_view last = text.substr(text.rfind(' ') + 1);  // if nothing is found, npos + 1 is 0
  const std::size_t dot = last.find('.');
  const bool has_level = dot != last.npos && dot > 0 && is_level(last.substr(dot + 1));
  return has_level ? trim(text.substr(0, text.size() - last.size())) : text;
}

// Removes a prefix such as "host kernel: ", "host kern.warn kernel: " or "host kernel[0]: ".
bool take_host(std::string_view& text, LogMessage& message) {
  constexpr std::string_view kKernel = "kernel";
  constexpr std::size_t kMost = 120;
  const std::string_view begin = text.substr(0, kMost);
  for (std::size_t at = begin.find(kKernel); at != begin.npos; at = begin.find(kKernel, at + 1)) {
    if (at > 0 && begin[at - 1] != ' ') continue;
    std::string_view left = text.substr(at + kKernel.size());
    if (left.starts_with('[')) left.remove_prefix(std::min(left.find(']'), left.size() - 1) + 1);
    if (!left.starts_with(':')) continue;
    message.host = without_facility(trim(text.substr(0, at)));
    message.host.remove_prefix(message.host.rfind(' ') + 1);  // if nothing is found, npos + 1 is 0
    text = left.substr(1);
    return true;
  }
  return false;
}

// Removes everything before "[  123.456789]", which may be after a prefix of any form.
bool take_unknown_prefix(std::string_view& text) {
  constexpr std::size_t kMost = 160;
  constexpr std::size_t kDigits = 6;  // number of digits of the microseconds
  for (std::size_t at = text.find('['); at < kMost; at = text.find('[', at + 1)) {
    const std::size_t end = text.find(']', at);
    if (end == std::string_view::npos) return false;
    const std::string_view inside = trim(text.substr(at + 1, end - at - 1));
    if (!seconds_of(inside) || inside.size() - inside.find('.') - 1 != kDigits) continue;
    text.remove_prefix(at);
    return true;
  }
  return false;
}

void take_known_prefixes(std::string_view& text, PrefixedLine& line) {
  bool had_host = false;
  bool had_vendor = false;
  for (bool changed = true; changed;) {
    text = trim(text);
    changed = !text.empty() && text.front() == '>';  // the line is quoted in a mail
    if (changed) text.remove_prefix(1);
    if (changed || text.empty()) continue;
    changed = take_talos(text, line.message) || take_level(text) || take_brackets(text, line) ||
              take_record(text, line) || take_date(text, line.message) || take_unix_time(text, line.message);
    if (!changed && line.message.wall_ns && !had_host) changed = had_host = take_syslog_fields(text, line.message);
    if (!changed && !had_host) changed = had_host = take_host(text, line.message);
    if (!changed) changed = take_logcat(text, line.message);
    if (!changed && line.message.boot_ns && !had_vendor) changed = had_vendor = take_vendors_caller(text, line);
    // The version of RFC 5424 is between level and time: "<4>1 2023-01-02T03:04:05Z".
    std::string_view after_version = text;
    if (!changed && text.starts_with("1 ") && (after_version.remove_prefix(2), take_date(after_version, line.message)))
      text = after_version, changed = true;
  }
}

}  // namespace

PrefixedLine without_prefix(std::string_view text) {
  PrefixedLine line;
  take_known_prefixes(text, line);
  if (!line.message.boot_ns && !line.delta_ns && take_unknown_prefix(text)) take_known_prefixes(text, line);
  line.message.text = text;
  return line;
}

}  // namespace kmt
