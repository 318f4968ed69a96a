// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/kernel_log.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log_prefix.hpp"
#include "snapshot/log_time.hpp"

namespace kmt {

namespace {

// Appends the character of a JSON escape such as "\n" or "\u001b". `at` is the position after the backslash, and then
// of the last character of the escape.
void append_escaped(std::string_view line, std::size_t& at, std::string& value) {
  switch (line[at]) {
    case 'n': value += '\n'; return;
    case 't': value += '\t'; return;
    case 'r': return;
    case 'u': {
      const auto code = parse_number<unsigned>(line.substr(at + 1, 4), 16);
      value += code && *code < 0x80 ? static_cast<char>(*code) : '?';
      at += std::min<std::size_t>(4, line.size() - 1 - at);
      return;
    }
    default: value += line[at];
  }
}

// Returns the value of a key in a line of JSON: a string without escapes, or a number.
std::optional<std::string> json_value(std::string_view line, std::string_view key) {
  const std::string name = '"' + std::string(key) + '"';
  std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  at = line.find_first_not_of(" :", at + name.size());
  if (at == std::string_view::npos) return std::nullopt;
  std::string value;
  if (line[at] != '"') {
    value = line.substr(at, line.find_first_not_of("0123456789.", at) - at);
    return value.empty() ? std::nullopt : std::optional(value);
  }
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 == line.size())
      value += line[at];
    else
      append_escaped(line, ++at, value);
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
    const bool has_prefix = has_time || !message.caller.empty();
    if (!has_prefix && had_time_ && was_wrapped && text_.size() < kMost) {
      text_.append(" ").append(message.text);
      return;
    }
    flush();
    if (!has_time) {  // lines without a time belong to the previous message
      message.boot_ns = held_.boot_ns;
      message.wall_ns = held_.wall_ns;
      message.has_year = held_.has_year;
      if (message.caller.empty()) message.caller = caller_;
    }
    had_time_ = has_time;
    text_ = message.text;
    caller_ = std::string(message.caller);  // `message` may refer to the old one
    held_ = message;
    is_held_ = true;
  }
  void flush() {
    if (!is_held_) return;
    held_.text = text_;
    held_.caller = caller_;
    take_(held_);
    is_held_ = false;
  }

 private:
  const std::function<void(const LogMessage&)>& take_;
  LogMessage held_;
  std::string text_;
  std::string caller_;
  std::size_t last_length_ = 0;
  bool had_time_ = false;
  bool is_held_ = false;
};

// The fields of a record that are not in the line of its text, as in the formats export, verbose and JSON.
struct RecordFields {
  std::optional<std::uint64_t> wall_ns;
  std::optional<std::uint64_t> boot_ns;
  std::string caller;
};

std::optional<std::uint64_t> nanoseconds(const std::string& micros) {
  const auto number = parse_number<std::uint64_t>(micros);
  return number && *number <= UINT64_MAX / 1000 ? std::optional(*number * 1000) : std::nullopt;
}

// Reads a log line by line.
class LogReader {
 public:
  explicit LogReader(const std::function<void(const LogMessage&)>& take) : joiner_(take) {}

  void read(std::string_view log) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (log.starts_with(kByteOrderMark)) log.remove_prefix(kByteOrderMark.size());
    while (!log.empty()) {
      const std::size_t end = std::min(log.find('\n'), log.size());
      std::string_view line = log.substr(0, end);
      log.remove_prefix(std::min(end + 1, log.size()));
      if (line == "MESSAGE") line = take_binary(log);
      take_line(line.substr(0, kMostOfALine));
    }
    joiner_.flush();
  }

 private:
  static constexpr std::size_t kMostOfALine = 1 << 16;

  // Removes the text of a message with line breaks, as in `journalctl -o export`: its length in 8 bytes (little
  // endian), and the text. Returns the text.
  std::string_view take_binary(std::string_view& log) {
    constexpr std::size_t kLength = 8;
    std::uint64_t length = 0;
    for (std::size_t i = std::min(kLength, log.size()); i-- > 0;)
      length = length << 8 | static_cast<unsigned char>(log[i]);
    const std::string_view text = log.substr(std::min(kLength, log.size()));
    if (length > std::min(text.size(), kMostOfALine)) return {};
    log = text.substr(length);
    is_whole_ = true;
    return text.substr(0, length);
  }

  void take_line(std::string_view line) {
    if (after_record_ && line.starts_with(' ') && line.find('=') != line.npos) return;  // " SUBSYSTEM=pci"
    std::string value;
    const bool is_json = take_json(line, value);
    if (is_json) line = value;
    const bool is_whole = std::exchange(is_whole_, false) || is_json || take_export(line);
    if (is_whole && line.empty()) return;  // another field of the record
    const bool is_clean = line.find_first_of(std::string_view("\r\x1b#\\\0", 5)) == std::string_view::npos;
    if (!is_clean) {
      clean(line, cleaned_);
      line = cleaned_;
    }
    each_line(line, [&](std::string_view part) { take_part(part, is_whole); });
    if (is_whole) fields_ = {};
  }

  void take_part(std::string_view part, bool is_whole) {
    PrefixedLine found = without_prefix(part);
    LogMessage& message = found.message;
    after_record_ = found.is_record;
    if (message.wall_ns) clock_ns_ = *message.wall_ns;
    if (found.delta_ns) {
      clock_ns_ += std::min(*found.delta_ns, UINT64_MAX - clock_ns_);
      message.wall_ns = clock_ns_;
      message.has_year = false;
    }
    if (is_whole) {
      if (fields_.wall_ns) message.wall_ns = fields_.wall_ns;
      if (fields_.boot_ns) message.boot_ns = fields_.boot_ns;
      if (message.caller.empty()) message.caller = fields_.caller;
    }
    joiner_.add(message, is_whole ? 0 : part.size());
  }

  // Takes a line of JSON, or a line of JSON that has several lines for a record. Returns true if it belongs to a
  // record. `value` is then the text of the message, if the line has it.
  bool take_json(std::string_view line, std::string& value) {
    line = trim(line);
    if (line.starts_with("data: ")) line.remove_prefix(6);
    if (!line.starts_with('{') && !line.starts_with("\"") && !line.starts_with('\x1e')) return false;
    bool is_field = line.starts_with('"') && line.find("\":") != line.npos;
    const auto of = [&](std::string_view key, auto&& use) {
      if (const auto text = json_value(line, key)) is_field = true, use(*text);
    };
    of("__REALTIME_TIMESTAMP", [&](const std::string& text) { fields_.wall_ns = nanoseconds(text); });
    of("__MONOTONIC_TIMESTAMP", [&](const std::string& text) { fields_.boot_ns = nanoseconds(text); });
    of("time", [&](const std::string& text) { fields_.boot_ns = seconds_of(text); });
    of("caller", [&](const std::string& text) { fields_.caller = text; });
    of("MESSAGE", [&](const std::string& text) { value = text; });
    of("msg", [&](const std::string& text) { value = text; });
    return is_field;
  }

  // Takes "NAME=value" of `journalctl -o export` and `-o verbose`. Leaves the text of a message in `line`.
  bool take_export(std::string_view& line) {
    const std::string_view field = trim(line);
    const std::size_t equals = field.find('=');
    const std::string_view name = field.substr(0, equals);
    const auto is_of_name = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    if (equals == field.npos || name.empty() || !std::ranges::all_of(name, is_of_name)) return false;
    const std::string_view value = field.substr(equals + 1);
    if (name == "__REALTIME_TIMESTAMP") fields_.wall_ns = nanoseconds(std::string(value));
    if (name == "__MONOTONIC_TIMESTAMP") fields_.boot_ns = nanoseconds(std::string(value));
    line = name == "MESSAGE" ? value : std::string_view();
    return true;
  }

  Joiner joiner_;
  std::string cleaned_;
  RecordFields fields_;
  std::uint64_t clock_ns_ = 0;  // wall clock of the last message, for times that are relative to it
  bool after_record_ = false;   // the last line was a record of /dev/kmsg
  bool is_whole_ = false;       // the line was already passed on as a whole
};

}  // namespace

void each_log_message(std::string_view log, const std::function<void(const LogMessage&)>& take) {
  LogReader(take).read(log);
}

}  // namespace kmt
