// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/kernel_log.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log_prefix.hpp"
#include "snapshot/log_record.hpp"

namespace kmt {

namespace {

constexpr std::string_view kNonBreaking = "\xc2\xa0";

// Replaces escaped line breaks, as written by rsyslog ("#012") and dmesg ("\x0a"), and non-breaking blanks. Removes
// control characters.
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
    } else if (left.starts_with(kNonBreaking)) {
      out += ' ';
      ++i;
    } else if (line[i] == '\r' || line[i] == '\0') {
      continue;
    } else {
      out += line[i];
    }
  }
}

// Passes messages to `take`. Joins the parts of lines that a mail program wrapped between words, or that a terminal
// split at its width. If only the first part has a time, the next line is such a part.
class Joiner {
 public:
  Joiner(const std::function<void(const LogMessage&)>& take, std::size_t page_width)
      : take_(take), page_width_(page_width) {}

  // `line` is the line of the message, with its prefix. It is empty if the message cannot be a part of another one.
  void add(LogMessage message, std::string_view line) {
    constexpr std::size_t kMost = 1 << 16;  // length of a joined message
    const bool has_time = message.boot_ns || message.wall_ns;
    const bool is_part = !has_time && message.caller.empty() && had_time_ && text_.size() < kMost;
    const bool was_split = page_width_ != 0 && last_length_ == page_width_;
    const bool was_wrapped = is_wrapped(last_length_, message.text);
    const bool needs_blank = !was_split || last_ends_with_blank_;
    last_length_ = line.size();
    last_ends_with_blank_ = line.ends_with(' ');
    if (is_part && (was_split || was_wrapped)) {
      text_.append(needs_blank ? " " : "").append(was_split ? line : message.text);
      return;
    }
    flush();
    if (!has_time) {  // lines without a time belong to the previous message
      message.boot_ns = held_.boot_ns;
      message.wall_ns = held_.wall_ns;
      message.has_year = held_.has_year;
      if (message.caller.empty()) message.caller = caller_;
      if (message.host.empty()) message.host = host_;
    }
    had_time_ = has_time;
    text_ = message.text;
    caller_ = std::string(message.caller);  // `message` may refer to the old one
    host_ = std::string(message.host);
    held_ = message;
    is_held_ = true;
  }
  void flush() {
    if (!is_held_) return;
    held_.text = text_;
    held_.caller = caller_;
    held_.host = host_;
    take_(held_);
    is_held_ = false;
  }

 private:
  // True if a mail program may have ended the line of this length because the next word did not fit.
      message.has_zone = held_.has_zone;
  static bool is_wrapped(std::size_t length, std::string_view next) {
    constexpr std::size_t kShortest = 55;
    constexpr std::size_t kLongest = 100;
    constexpr std::size_t kUsualWidth = 72;
    return length <= kLongest && length != 0 &&
           (length >= kShortest || length + 1 + Words(next).next().size() > kUsualWidth);
  }

  const std::function<void(const LogMessage&)>& take_;
  std::size_t page_width_;
  LogMessage held_;
  std::string text_;
  std::string caller_;
  std::string host_;
  std::size_t last_length_ = 0;
  bool last_ends_with_blank_ = false;  // the line; messages have no blanks at their ends
  bool had_time_ = false;
  bool is_held_ = false;
};

// Returns the width of a terminal or page that split longer lines, also in the middle of words. Returns 0 if the log
// has no such lines.
std::size_t width_of_page(std::string_view log) {
  constexpr std::size_t kFewest = 3;  // lines of the same greatest length
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 250;
  std::size_t width = 0;
  std::size_t count = 0;
  each_line(log, [&](std::string_view line) {
    if (line.size() > width) width = line.size(), count = 0;
    if (line.size() == width) ++count;
  });
  return count >= kFewest && width >= kNarrowest && width <= kWidest ? width : 0;
}

// Reads a log line by line.
class LogReader {
 public:
  LogReader(const std::function<void(const LogMessage&)>& take, std::size_t page_width) : joiner_(take, page_width) {}

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
    const bool is_field = csv_.take(line, value, fields_) || take_json(line, value, fields_);
    if (is_field) line = value;
    const bool is_whole = std::exchange(is_whole_, false) || is_field || take_export(line, fields_);
    if (is_whole && line.empty()) return;  // another field of the record
    const bool is_clean = line.find_first_of(std::string_view("\r\x1b#\\\xc2\0", 6)) == std::string_view::npos;
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
      if (fields_.wall_ns) message.wall_ns = fields_.wall_ns, message.has_zone = fields_.has_zone;
      if (fields_.boot_ns) message.boot_ns = fields_.boot_ns;
      if (message.caller.empty()) message.caller = fields_.caller;
      if (message.host.empty()) message.host = fields_.host;
    }
    joiner_.add(message, is_whole ? std::string_view() : part);
  }

  Joiner joiner_;
  std::string cleaned_;
  RecordFields fields_;
  CsvReader csv_;
  std::uint64_t clock_ns_ = 0;  // wall clock of the last message, for times that are relative to it
  bool after_record_ = false;   // the last line was a record of /dev/kmsg
  bool is_whole_ = false;       // the line was already passed on as a whole
};

}  // namespace

void each_log_message(std::string_view log, const std::function<void(const LogMessage&)>& take) {
  std::string decoded;
  if (is_quoted_printable(log)) {
    decoded = decode_quoted_printable(log);
    log = decoded;
  }
  LogReader(take, width_of_page(log)).read(log);
}

}  // namespace kmt
