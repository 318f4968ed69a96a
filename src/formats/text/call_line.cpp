// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/call_line.hpp"

#include <algorithm>
#include <cctype>

#include "base/number.hpp"
#include "base/text.hpp"
#include "formats/text/lines.hpp"

namespace kmt::text {

namespace {

// Removes the CPU, such as "1) ", from the front of the text.
std::optional<unsigned> take_cpu(std::string_view& text) {
  std::string_view rest = trim(text);
  const auto cpu = take_number<unsigned>(rest);
  if (!cpu || *cpu >= kMostCpus || !rest.starts_with(')')) return std::nullopt;
  text = rest.substr(1);
  return cpu;
}

// Parses "12.750 us" as nanoseconds. A long duration has fewer digits after the point.
std::optional<std::uint64_t> parse_microseconds(std::string_view text) {
  if (!text.ends_with("us")) return std::nullopt;
  text = trim(text.substr(0, text.size() - 2));
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = parse_number<std::uint64_t>(text.substr(0, point));
  const std::string_view digits = text.substr(std::min(point + 1, text.size()));
  if (!whole || *whole >= UINT64_MAX / 1000 || digits.size() > 3) return std::nullopt;
  const auto fraction = digits.empty() ? 0 : parse_number<std::uint64_t>(digits);
  if (!fraction) return std::nullopt;
  std::uint64_t scale = 1;
  for (std::size_t i = digits.size(); i < 3; ++i) scale *= 10;
  return *whole * 1000 + *fraction * scale;
}

constexpr std::string_view kDurationMarks = "+!#*@$";

// Parses "0.412 us", "+ 12.750 us" or "! 131.007 us". The kernel prints the marks before long durations.
std::optional<std::uint64_t> parse_duration(std::string_view text) {
  if (!text.empty() && kDurationMarks.find(text.front()) != kDurationMarks.npos) text = trim(text.substr(1));
  return parse_microseconds(text);
}

// Parses the time column before the CPU: "360.774522", or in some latency tracers "12 us".
bool parse_time_column(std::string_view text, CallLine& call) {
  const bool has_point = text.find('.') != text.npos;
  const auto since = has_point ? std::nullopt : parse_microseconds(text);
  if (since) call.line.time = *since;
  call.has_time = since || (has_point && parse_clock(text, call.line));
  return call.has_time;
}

// Parses a column between two "|". Returns false if the text is the call itself.
bool parse_column(std::string_view column, CallLine& call, bool& has_cpu) {
  if (const auto cpu = has_cpu ? std::nullopt : take_cpu(column)) {
    call.line.cpu = *cpu;
    has_cpu = true;
  } else if (!has_cpu && !call.has_time && parse_time_column(trim(column), call)) {
    return true;
  }
  column = trim(column);
  if (column.empty()) return true;
  if (const auto duration = parse_duration(column)) {
    call.duration_ns = duration;
    return true;
  }
  if (parse_irq_info(column, call.line)) return true;
  if (call.has_task || column.find("/*") != column.npos) return false;
  call.has_task = parse_task(column, call.line);
  return call.has_task;
}

// True if the text may be the name of a function, such as "f" or "f.isra.0 [module]".
bool is_function(std::string_view text) {
  const std::size_t module = text.find(" [");
  if (module != text.npos && !text.ends_with(']')) return false;
  const std::string_view name = text.substr(0, module);
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$';
  });
}

// Removes the last comment "/* … */" from the end of the text and returns its inside.
std::string_view take_comment(std::string_view& text) {
  const std::size_t begin = text.starts_with("/*") ? 0 : text.rfind("/*");
  if (begin == text.npos || !text.ends_with("*/") || text.size() < begin + 4) return {};
  const std::string_view inside = text.substr(begin + 2, text.size() - begin - 4);
  text = trim(text.substr(0, begin));
  return trim(inside);
}

// Parses the comment after a call, such as "f", "= 0x0", "f = 0x0", or "f <-caller+0x62/0x110 ret=-14".
void parse_comment(std::string_view comment, CallLine& call) {
  for (const std::string_view mark : {"ret=", "= "}) {
    const std::size_t at = comment.rfind(mark);
    if (at == comment.npos || (at > 0 && comment[at - 1] != ' ')) continue;
    call.return_value = trim(comment.substr(at + mark.size()));
    comment = trim(comment.substr(0, at));
    break;
  }
  if (const std::size_t caller = comment.find("<-"); caller != comment.npos) comment = trim(comment.substr(0, caller));
  if (call.part == CallPart::exit && is_function(comment)) call.function = comment;
}

// Parses "f(fd=3) {" or "f();".
bool parse_begin(std::string_view text, CallLine& call) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) return false;
  const std::string_view after = trim(text.substr(close + 1));
  const std::string_view before = text.substr(0, close);
  // If a line break is lost, another call follows.
  if (before.find(");") != before.npos || before.find(") {") != before.npos) return false;
  if (after != ";" && after != "{") return false;
  call.part = after == ";" ? CallPart::leaf : CallPart::entry;
  call.function = trim(text.substr(0, open));
  call.arguments = trim(text.substr(open + 1, close - open - 1));
  return is_function(call.function);
}

// Removes what trace-cmd prints after a call: "(ret=-14)", or with the option fgraph:depth "(2)".
void take_suffix(std::string_view& text, CallLine& call) {
  constexpr std::string_view kReturn = "ret=";
  const std::size_t open = text.rfind(" (");
  if (open == text.npos || !text.ends_with(')')) return;
  const std::string_view before = trim(text.substr(0, open));
  if (before.empty() || (std::string_view(";{}").find(before.back()) == text.npos && !before.ends_with("*/"))) return;
  const std::string_view inside = text.substr(open + 2, text.size() - open - 3);
  const bool is_return = inside.starts_with(kReturn);
  if (!is_return && inside.find_first_not_of("0123456789") != inside.npos) return;
  if (is_return) call.return_value = inside.substr(kReturn.size());
  text = before;
}

// Parses the last column: an entry, an exit, a leaf or a comment. The column starts with two blanks, and two more for
// each call around this one. Mail programs and web pages may merge the blanks.
bool parse_code(std::string_view column, CallLine& call) {
  constexpr std::size_t kIndent = 2;
  const std::size_t blanks = std::min(column.find_first_not_of(' '), column.size());
  // Without the column of durations, there is one blank less. A single blank may also remain from several merged ones.
  if (blanks >= kIndent) call.depth = static_cast<unsigned>((blanks - 1) / kIndent);
  std::string_view text = trim(column);
  take_suffix(text, call);
  if (text.starts_with("/*")) {
    call.part = CallPart::comment;
    const std::string_view comment = take_comment(text);
    return !comment.empty() && parse_event(comment, call.line);
  }
  const std::string_view comment = take_comment(text);
  if (text == "}") {
    call.part = CallPart::exit;
  } else if (!parse_begin(text, call)) {
    return false;
  }
  parse_comment(comment, call);
  return true;
}

// Parses all columns in `text`. `call` contains the columns that the caller has already parsed.
bool parse_columns(std::string_view text, CallLine& call, bool& has_cpu) {
  constexpr std::size_t kBlankDuration = 10;  // minimum width of the column of durations
  bool has_columns = false;
  for (std::size_t end = text.find('|'); end != text.npos; end = text.find('|')) {
    const std::string_view column = text.substr(0, end);
    if (!parse_column(column, call, has_cpu)) break;
    has_columns = has_columns || end >= kBlankDuration || !trim(column).empty();
    text.remove_prefix(end + 1);
  }
  if (const auto cpu = has_cpu ? std::nullopt : take_cpu(text)) {  // if there are no durations, no "|" follows the CPU
    call.line.cpu = *cpu;
    has_cpu = true;
  }
  if (!has_cpu && !has_columns) return false;
  return parse_code(text, call);
}

}  // namespace

std::uint64_t end_of(const CallLine& call) {
  const std::uint64_t duration = call.part == CallPart::leaf && call.has_time ? call.duration_ns.value_or(0) : 0;
  return call.line.time <= UINT64_MAX - duration ? call.line.time + duration : call.line.time;
}

std::optional<CallLine> parse_call_line(std::string_view text) {
  CallLine call;
  bool has_cpu = false;
  if (!parse_columns(text, call, has_cpu)) return std::nullopt;
  call.line.has_cpu = has_cpu;
  return call;
}

std::optional<CallLine> parse_bare_call_line(std::string_view text) {
  constexpr std::size_t kIndent = 2;
  CallLine call;
  call.line.has_cpu = false;
  if (text.starts_with('#') || !parse_code(text, call)) return std::nullopt;
  call.depth = static_cast<unsigned>(std::min(text.find_first_not_of(' '), text.size()) / kIndent);
  return call;
}

bool was_call(std::string_view text) {
  if (text.starts_with('#')) return false;
  const std::size_t bar = text.rfind('|');
  const std::string_view code = bar == text.npos ? std::string_view() : trim(text.substr(bar + 1));
  if (!code.empty()) return !code.starts_with("/*") && !code.ends_with("*/");
  // There is no text after the last "|". True if the line was cut off after the CPU or the duration.
  std::string_view after = text;
  if (!take_cpu(after)) return false;
  after = trim(after);
  return after.empty() || after.front() == '|' || is_digit(after.front()) ||
         (kDurationMarks.find(after.front()) != kDurationMarks.npos && after.find("==") == after.npos);
}

std::optional<std::size_t> start_of_second_call(std::string_view line) {
  constexpr unsigned kMostMarks = 8;
  std::size_t at = line.find_first_of(";{}/");
  for (unsigned i = 0; i < kMostMarks && at != line.npos; ++i, at = line.find_first_of(";{}/", at + 1)) {
    const std::string_view rest = trim(line.substr(at + 1));
    if (rest.empty() || !is_digit(rest.front())) continue;
    if (parse_call_line(line.substr(0, at + 1)) && parse_call_line(rest)) return at + 1;
  }
  return std::nullopt;
}

std::string_view without_prefix_word(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  const bool is_prefix =
      word.ends_with(':') || word.ends_with(']') || word.find_first_not_of("0123456789") == word.npos;
  return is_prefix ? text.substr(word.size()) : std::string_view();
}

namespace {

// Parses "--> f (2)" or "<-- f (2) (start: 1a  end: 2b) over: 0".
bool parse_print_format(std::string_view text, CallLine& call) {
  const bool begins = text.starts_with("--> ");
  if (!begins && !text.starts_with("<-- ")) return false;
  const std::size_t open = text.find(" (");
  if (open == text.npos || open < 4) return false;
  call.part = begins ? CallPart::entry : CallPart::exit;
  call.function = text.substr(4, open - 4);
  call.depth = parse_leading<unsigned>(text.substr(open + 2));
  const auto number_after = [text](std::string_view key) {
    const std::size_t at = text.find(key);
    return at == text.npos ? std::nullopt : parse_leading<std::uint64_t>(text.substr(at + key.size()), 16);
  };
  const auto began = number_after("start: ");
  const auto ended = number_after("end: ");
  if (began && ended && *ended >= *began) call.duration_ns = *ended - *began;
  return is_function(call.function);
}

// Parses "func=0xffffffff81234567 depth=2" and "func=… calltime=0x1a rettime=0x2b depth=2", which trace-cmd report -R
// prints. The function may be a name.
bool parse_raw_fields(const Line& line, CallLine& call) {
  const std::string_view function = value_of(line.fields, "func");
  const auto depth = parse_number<unsigned>(value_of(line.fields, "depth"));
  if (!depth || !(parse_value(function) || is_function(function))) return false;
  call.part = line.event == "funcgraph_entry" ? CallPart::entry : CallPart::exit;
  call.function = function;
  call.depth = depth;
  call.return_value = value_of(line.fields, "retval");
  const auto began = parse_value(value_of(line.fields, "calltime"));
  const auto ended = parse_value(value_of(line.fields, "rettime"));
  if (began && ended && *ended >= *began) call.duration_ns = *ended - *began;
  return true;
}

}  // namespace

bool is_call_event(const Line& line) { return line.event == "funcgraph_entry" || line.event == "funcgraph_exit"; }

std::optional<CallLine> parse_call_event(const Line& line) {
  if (!is_call_event(line)) return std::nullopt;
  CallLine call;
  call.line = line;
  call.has_task = call.has_time = true;
  bool has_cpu = true;
  const bool is_call = parse_print_format(line.fields, call) || parse_raw_fields(line, call) ||
                       parse_columns(line.fields, call, has_cpu);
  if (!is_call || call.part == CallPart::comment) return std::nullopt;
  call.line.event = call.line.fields = {};
  return call;
}

std::optional<InterruptLine> parse_interrupt_line(std::string_view text) {
  const std::size_t begins = text.find("==========>");
  const std::size_t arrow = begins == text.npos ? text.find("<==========") : begins;
  if (arrow == text.npos) return std::nullopt;
  InterruptLine found{.begins = begins != text.npos};
  for (std::string_view column : split(text.substr(0, arrow), '|')) {
    if (const auto cpu = take_cpu(column)) return InterruptLine{.cpu = *cpu, .begins = found.begins};
    Line task;
    if (parse_task(column, task)) found.tid = task.tid;
  }
  constexpr std::size_t kArrow = 11;
  const bool has_column = trim(text.substr(arrow + kArrow)) == "|";  // otherwise, the text is a message
  return has_column ? std::optional(found) : std::nullopt;
}

std::optional<SwitchLine> parse_switch_line(std::string_view text) {
  const auto cpu = take_cpu(text);
  const std::size_t arrow = text.find(" => ");
  if (!cpu || arrow == text.npos) return std::nullopt;
  SwitchLine change;
  change.from.cpu = change.to.cpu = *cpu;
  if (!parse_task(text.substr(0, arrow), change.from) || !parse_task(text.substr(arrow + 4), change.to))
    return std::nullopt;
  return change;
}

}  // namespace kmt::text
