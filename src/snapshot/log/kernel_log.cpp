// SPDX-License-Identifier: GPL-2.0-or-later
#include "snapshot/log/kernel_log.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "base/encodings.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "snapshot/log/cut_number.hpp"
#include "snapshot/log/learned_prefix.hpp"
#include "snapshot/log/prefix.hpp"
#include "snapshot/log/record.hpp"

namespace kmt {

namespace {

constexpr std::string_view kNonBreaking = "\xc2\xa0";
constexpr std::string_view kWrapMark = "\xe2\x86\xaa";  // an arrow that books print before the rest of a wrapped line
constexpr std::string_view kNonBreakingEntity = "&nbsp;";

// Returns the length of a line break of HTML, such as "<br>" or "<br />". 0 if the text starts with something else.
std::size_t length_of_html_break(std::string_view text) {
  if (!text.starts_with("<br") && !text.starts_with("<BR")) return 0;
  const std::size_t end = text.find_first_not_of(" /", 3);
  return end != text.npos && text[end] == '>' ? end + 1 : 0;
}

// Copies a line to `out`. Replaces tabs, non-breaking blanks and escaped line breaks. rsyslog writes a line break as
// "#012", dmesg as "\x0a", and JSON and HTML have other forms. Removes control characters.
void clean(std::string_view line, std::string& out) {
  constexpr std::string_view kBreaks[] = {"#012", "\\x0a", "\\r\\n", "\\n"};
  out.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view left = line.substr(i);
    const auto* const found =
        std::ranges::find_if(kBreaks, [&](std::string_view one) { return left.starts_with(one); });
    if (found != std::end(kBreaks)) {
      out += '\n';
      i += found->size() - 1;
    } else if (const std::size_t length = length_of_html_break(left); length != 0) {
      out += '\n';
      i += length - 1;
    } else if (left.starts_with("\x1b[")) {
      i += std::min(left.find_first_of("mKHJ"), left.size() - 1);
    } else if (left.starts_with(kNonBreaking)) {
      out += ' ';
      ++i;
    } else if (left.starts_with(kWrapMark)) {
      i += kWrapMark.size() - 1;
    } else if (left.starts_with(kNonBreakingEntity)) {
      out += ' ';
      i += kNonBreakingEntity.size() - 1;
    } else if (line[i] == '\t') {
      out += ' ';
    } else if (line[i] == '\r' || line[i] == '\0') {
      continue;
    } else {
      out += line[i];
    }
  }
}

// True if the text starts like a line of a report by the kernel.
bool begins_like_a_line(std::string_view text) {
  constexpr std::string_view kStarts[] = {
      "[",          "Node ",       "CPU ",       "Mem-Info",       "lowmem_reserve",
      "Swap cache", "Free swap",   "Total swap", "Unreclaimable ", "Name ",
      "Memory ",    "Tasks state", "oom-kill:",  "Out of memory",  "Killed process"};
  if (std::ranges::any_of(kStarts, [text](std::string_view start) { return text.starts_with(start); })) return true;
  Words words(text);
  return whole_number(words.next()) && (words.rest().starts_with("pages ") || words.rest().starts_with("total "));
}

// Passes messages to `take`. Joins the parts of lines that a mail program wrapped between words, or that a terminal
// split at its width. After a message with a time, a line without a time may be such a part.
class Joiner {
 public:
  Joiner(const std::function<void(const LogMessage&)>& take, std::size_t page_width)
      : take_(take), page_width_(page_width) {}

  // Adds a message. `line` is the line of the message, with its prefix. `line` is empty if the message cannot be a part
  // of another message.
  void add(LogMessage message, std::string_view line) {
    constexpr std::size_t kMost = 1 << 16;  // maximum length of a joined message, in bytes
    const bool has_time = message.boot_ns || message.wall_ns;
    const bool may_be_part = !has_time && message.caller.empty() && is_held_ && !line.empty() && text_.size() < kMost;
    const bool was_split = page_width_ != 0 && last_length_ == page_width_;
    const bool cuts_number = !last_ends_with_blank_ && continues_number(text_, line);
    const bool is_part = may_be_part && (had_time_ ? was_split || is_wrapped(last_length_, message.text)
                                                   : was_split && !begins_like_a_line(line));
    const bool needs_blank = !cuts_number && (!was_split || last_ends_with_blank_);
    last_length_ = line.size();
    last_ends_with_blank_ = line.ends_with(' ');
    if (is_part || (may_be_part && cuts_number)) {
      text_.append(needs_blank ? " " : "").append(was_split ? line : message.text);
      return;
    }
    flush();
    if (!has_time) {  // lines without a time belong to the previous message
      message.boot_ns = held_.boot_ns;
      message.wall_ns = held_.wall_ns;
      message.has_year = held_.has_year;
      message.has_zone = held_.has_zone;
      if (message.caller.empty()) message.caller = caller_;
      if (message.host.empty()) message.host = host_;
    }
    had_time_ = has_time;
    text_ = message.text;
    // The copy is necessary, because `message.caller` may be a view of caller_.
    caller_ = std::string(message.caller);
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
  bool last_ends_with_blank_ = false;  // true: the line of the message ends with a blank; the message itself never does
  bool had_time_ = false;
  bool is_held_ = false;
};

// Returns the lines from the start of the first report to the end of the last one. Text outside this part may have
// longer lines, which would disturb the search for the width.
std::string_view part_with_reports(std::string_view log) {
  const auto of = [](std::size_t a, std::size_t b) { return std::min(a, b); };
  const std::size_t first = of(of(log.find("invoked oom-killer"), log.find("Mem-Info:")), log.find("Mem-info:"));
  std::size_t last = 0;
  for (const std::string_view end : {"pages RAM", "pages reserved", "Killed process", "cma reserved"})
    if (const std::size_t at = log.rfind(end); at != log.npos) last = std::max(last, at);
  if (first == log.npos || last <= first) return log;
  const std::size_t begin = log.rfind('\n', first) + 1;  // if nothing is found, npos + 1 is 0
  return log.substr(begin, log.find('\n', last) - begin);
}

// Counts the lengths of lines, for a log whose lines may have been split or wrapped.
struct LineLengths {
  std::map<std::size_t, std::size_t> counts;  // key: length

  std::size_t count_from(std::size_t least, std::size_t most) const {
    std::size_t sum = 0;
    for (auto at = counts.lower_bound(least); at != counts.end() && at->first <= most; ++at) sum += at->second;
    return sum;
  }
  // Returns the greatest length if three quarters of the lines that are not shorter than `shortest` have nearly this
  // length. A mail program that wraps lines between words leaves lines of many lengths.
  std::size_t width(std::size_t shortest) const {
    constexpr std::size_t kFewest = 3;
    constexpr std::size_t kNarrowest = 60;
    constexpr std::size_t kWidest = 250;
    if (counts.empty()) return 0;
    const std::size_t width = counts.rbegin()->first;
    if (width < kNarrowest || width > kWidest) return 0;
    const std::size_t count = counts.rbegin()->second + count_from(width - 1, width - 1);
    return count >= kFewest && count * 4 >= count_from(std::min(shortest, width), width) * 3 ? width : 0;
  }
};

// Returns the width at which a terminal cut off the ends of longer lines. Returns 0 if no ends are missing. Ends are
// missing if zones have their first numbers, but no zone has its later numbers.
std::size_t width_of_cut(std::string_view log) {
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kFewest = 3;
  const std::string_view reports = part_with_reports(log);
  // A line break may be inside some of these words.
  constexpr std::array<std::string_view, 4> kLaterNumbers = {"present:", "managed:", "mlocked:", "local_pcp:"};
  const auto has = [reports](std::string_view words) { return reports.find(words) != reports.npos; };
  if (!has("kB min:") || std::ranges::any_of(kLaterNumbers, has)) return 0;
  std::map<std::size_t, std::size_t> counts;  // key: length of the line
  each_line(reports, [&](std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    ++counts[line.size()];
  });
  const auto [width, count] = *counts.rbegin();
  return width >= kNarrowest && count >= kFewest ? width : 0;
}

// Returns the width at which a terminal or page split longer lines, even in the middle of words. Returns 0 if the log
// has no such lines.
std::size_t width_of_page(std::string_view log) {
  constexpr std::size_t kLookAt = 1 << 20;
  constexpr std::size_t kShortest = 55;
  // A line that was wrapped between words may be shorter than the width by up to this number of characters.
  constexpr std::size_t kRagged = 12;
  LineLengths all;
  LineLengths split;  // lengths of lines with a time that precede a line without a time
  std::size_t last = 0;
  bool has_times = false;
  each_line(part_with_reports(log).substr(0, kLookAt), [&](std::string_view line) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    line = without_quotes(line);
    const LogMessage message = without_prefix(line).message;
    const bool has_time = message.boot_ns || message.wall_ns;
    has_times = has_times || has_time;
    if (has_times && !has_time && last != 0) ++split.counts[last];
    ++all.counts[line.size()];
    last = line.size();
  });
  if (has_times) return split.width(kShortest);
  return all.counts.empty() ? 0 : all.width(all.counts.rbegin()->first - std::min(kRagged, all.counts.rbegin()->first));
}

// True if the line has characters that clean() changes.
bool is_unclean(std::string_view line) {
  return line.find_first_of(std::string_view("\r\t\x1b#\\\xc2\xe2&\0", 9)) != line.npos ||
         line.find("<br") != line.npos || line.find("<BR") != line.npos;
}

// Learns prefixes of unknown forms from the first lines of reports.
LearnedPrefixes prefixes_of(std::string_view log) {
  constexpr std::array<std::string_view, 5> kMessages = {"Mem-Info:", "Mem-info:", "Tasks state (", "memory: usage ",
                                                         "DMA per-cpu:"};
  constexpr std::size_t kMostOfEach = 64;
  constexpr std::size_t kLines = 25;
  LearnedPrefixes learned;
  for (const std::string_view message : kMessages) {
    std::size_t at = log.find(message);
    for (std::size_t i = 0; i < kMostOfEach && at != log.npos; at = log.find(message, at + 1), ++i) {
      std::vector<std::string> lines;
      std::string_view left = log.substr(log.substr(0, at).rfind('\n') + 1);  // if nothing is found, npos + 1 is 0
      while (!left.empty() && lines.size() < kLines) {
        const std::size_t end = std::min(left.find('\n'), left.size());
        std::string cleaned;
        clean(left.substr(0, std::min<std::size_t>(end, 1024)), cleaned);
        lines.emplace_back(without_prefix(without_quotes(cleaned)).message.text);
        left.remove_prefix(std::min(end + 1, left.size()));
      }
      learned.learn(lines);
    }
  }
  return learned;
}

// Reads a log line by line.
class LogReader {
 public:
  // Messages of lines with the length `cut_width` lack their ends.
  LogReader(const std::function<void(const LogMessage&)>& take, std::size_t page_width, std::size_t cut_width,
            LearnedPrefixes prefixes)
      : joiner_(take, page_width), cut_width_(cut_width), prefixes_(std::move(prefixes)) {}

  void read(std::string_view log) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (log.starts_with(kByteOrderMark)) log.remove_prefix(kByteOrderMark.size());
    while (!log.empty()) {
      const std::size_t end = std::min(log.find('\n'), log.size());
      std::string_view line = log.substr(0, end);
      while (line.ends_with('\r')) line.remove_suffix(1);
      if (end == log.size() || (cut_width_ != 0 && line.size() == cut_width_)) line = without_cut_counter(line);
      log.remove_prefix(std::min(end + 1, log.size()));
      if (line == "MESSAGE") line = take_binary(log);
      take_line(line.substr(0, kMostOfALine));
    }
    joiner_.flush();
  }

 private:
  static constexpr std::size_t kMostOfALine = 1 << 16;

  // Removes a message with line breaks from the log and returns its text. `journalctl -o export` writes such a message
  // as 8 bytes with the length (little endian), and then the text.
  std::string_view take_binary(std::string_view& log) {
    constexpr std::size_t kLength = 8;
    std::uint64_t length = 0;
    for (std::size_t i = std::min(kLength, log.size()); i-- > 0;)
      length = length << 8 | static_cast<unsigned char>(log[i]);
    const std::string_view text = log.substr(std::min(kLength, log.size()));
    if (length > std::min(text.size(), kMostOfALine)) return {};
    log = text.substr(to_size(length));
    is_whole_ = true;
    return text.substr(0, to_size(length));
  }

  void take_line(std::string_view line) {
    if (after_record_ && line.starts_with(' ') && line.find('=') != line.npos) return;  // " SUBSYSTEM=pci"
    std::string value;
    const bool is_field =
        take_json_string(line, value) || csv_.take(line, value, fields_) || take_json(line, value, fields_);
    if (is_field) line = value;
    const bool is_whole = std::exchange(is_whole_, false) || is_field || take_export(line, fields_);
    if (is_whole && line.empty()) return;  // the line had another field of the record, and no text
    if (is_unclean(line)) {
      clean(line, cleaned_);
      line = cleaned_;
    }
    each_line(line, [&](std::string_view part) { take_part(part, is_whole); });
    if (is_whole) fields_ = {};
  }

  void take_part(std::string_view part, bool is_whole) {
    const auto quotes = static_cast<unsigned>(std::ranges::count(part.substr(0, part.find_first_not_of("> ")), '>'));
    part = without_quotes(part);
    PrefixedLine found = without_prefix(part);
    LogMessage& message = found.message;
    message.quotes = quotes;
    after_record_ = found.is_record;
    if (message.wall_ns) clock_ns_ = *message.wall_ns;
    if (found.delta_ns) {
      clock_ns_ += std::min(*found.delta_ns, UINT64_MAX - clock_ns_);
      message.wall_ns = clock_ns_;
      message.has_year = false;
    }
    const std::size_t length = message.text.size();
    if (const std::string_view source = prefixes_.take(message.text); !source.empty())
      (message.boot_ns ? message.caller : message.host) = source;
    // Omits the prefix, because its digits cannot be the rest of a number in the previous line.
    if (message.text.size() != length) part = message.text;
    if (is_whole) {
      if (fields_.wall_ns) message.wall_ns = fields_.wall_ns, message.has_zone = fields_.has_zone;
      if (fields_.boot_ns) message.boot_ns = fields_.boot_ns;
      if (message.caller.empty()) message.caller = fields_.caller;
      if (message.host.empty()) message.host = fields_.host;
    }
    joiner_.add(message, is_whole ? std::string_view() : part);
  }

  Joiner joiner_;
  std::size_t cut_width_;
  LearnedPrefixes prefixes_;
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
  const std::size_t cut_width = width_of_cut(log);
  LogReader(take, cut_width != 0 ? 0 : width_of_page(log), cut_width, prefixes_of(log)).read(log);
}

}  // namespace kmt
