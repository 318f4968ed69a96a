// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/line.hpp"

#include <algorithm>
#include <cctype>

#include "base/number.hpp"
#include "base/text.hpp"
#include "trace/event.hpp"

namespace kmt::text {

namespace {

// Removes the first word and the blanks before it from the text. Returns the word.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

// Parses a time and ":".
bool parse_time(std::string_view word, Line& line) {
  return word.ends_with(':') && parse_clock(word.substr(0, word.size() - 1), line);
}

}  // namespace

bool parse_clock(std::string_view word, Line& line) {
  const std::size_t point = word.find('.');
  const auto whole = parse_number<std::uint64_t>(word.substr(0, point));
  if (!whole) return false;
  line.time = *whole;
  line.time_in_ns = point != std::string_view::npos;
  if (!line.time_in_ns) return true;
  const std::string_view digits = word.substr(point + 1);
  const auto fraction = parse_number<std::uint64_t>(digits);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (!fraction || digits.size() > 9 || *whole >= UINT64_MAX / kSecond) return false;
  std::uint64_t scale = 1;
  for (std::size_t i = digits.size(); i < 9; ++i) scale *= 10;
  line.time = *whole * kSecond + *fraction * scale;
  return true;
}

// Parses the IRQ-INFO of a line. The characters mean: interrupts off, reschedule needed, kind of interrupt, depth of
// disabled preemption, depth of disabled migration (trace_print_lat_fmt() in kernel/trace/trace_output.c, Linux 6.18).
bool parse_irq_info(std::string_view word, Line& line) {
  if (word.size() < 4 || word.size() > 8 || word.find_first_not_of(".dDXbBnNpPlLhHsSzZ#0123456789abcdef") != word.npos)
    return false;
  // Kernels with PREEMPT_RT before Linux 6.12 have one more column before the context.
  const bool has_lazy_column = std::string_view("hsHzZ").find(word[3]) != word.npos;
  switch (word[has_lazy_column ? 3 : 2]) {
    case 'h': line.context = Context::kHardIrq; break;
    case 's': line.context = Context::kSoftIrq; break;
    case 'H': line.context = Context::kHardIrq | Context::kSoftIrq; break;
    case 'z': line.context = Context::kNmi; break;
    case 'Z': line.context = Context::kNmi | Context::kHardIrq; break;
    default: break;
  }
  return true;
}

namespace {

// Moves the name of a buffer, which trace-cmd prints as "NAME:  " before the task, from `comm` to `buffer`. Removes
// other text before the name of the task, such as the prefix of a log. Names of tasks may also contain ": " and blanks,
// so this applies only to texts that are longer than a task's name.
void take_prefix(Line& line) {
  constexpr std::size_t kMostOfAName = 15;
  if (line.comm.size() <= kMostOfAName) return;
  if (const std::size_t colon = line.comm.find(": "); colon != std::string_view::npos) {
    line.buffer = line.comm.substr(0, colon);
    line.comm = trim(line.comm.substr(colon + 2));
  }
  for (const std::string_view blanks : {"  ", "\t", " "})
    if (const std::size_t at = line.comm.rfind(blanks); line.comm.size() > kMostOfAName && at != line.comm.npos)
      line.comm = trim(line.comm.substr(at));
}

}  // namespace

bool parse_task(std::string_view text, Line& line) {
  text = trim(text);
  if (text.ends_with(')')) text = trim(text.substr(0, text.rfind('(')));
  const std::size_t digits = text.find_last_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 == text.size()) return false;
  const auto tid = parse_number<std::int32_t>(text.substr(digits + 1));
  if (!tid) return false;
  line.tid = *tid;
  line.comm = trim(text.substr(0, digits));
  const char separator = text[digits];
  if (separator == '/') line.comm = trim(line.comm.substr(0, line.comm.find_last_not_of("0123456789") + 1));
  if (separator == '-' && line.comm.ends_with('-')) {  // "NAME--1" means that the task's ID is unknown
    line.tid = -line.tid;
    line.comm.remove_suffix(1);
  }
  take_prefix(line);
  return separator == '-' || separator == ' ' || separator == '\t' || separator == '/';
}

namespace {

// Returns the next word, which should be the time. If irq-info comes first, parses it.
std::string_view take_time(std::string_view& rest, Line& line) {
  const std::string_view word = take_word(rest);
  return !word.ends_with(':') && parse_irq_info(word, line) ? take_word(rest) : word;
}

// Skips a number between the time and the event: the time since the last event, such as "(+175)", or perf's period,
// such as "1".
void skip_difference_and_period(std::string_view& rest) {
  std::string_view after = rest;
  std::string_view word = take_word(after);
  if (word.starts_with("(+")) {
    const std::size_t end = rest.find(')');
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    after = rest;
    word = take_word(after);
  }
  const bool is_number = !word.empty() && word.find_first_not_of("0123456789") == word.npos;
  if (is_number && take_word(after).find(':') != rest.npos)
    rest.remove_prefix(static_cast<std::size_t>(word.data() + word.size() - rest.data()));
}

// True for 0 or an address. If symbols are hidden, the kernel prints these before a program's marker, not the function.
bool is_address(std::string_view name) {
  if (name.starts_with("0x")) name.remove_prefix(2);
  return name == "0" || (name.size() >= 8 && name.find_first_not_of("0123456789abcdef") == name.npos);
}

// Parses a line of the function tracer: "f <-caller", or "f [module](fd=3) <-caller".
bool parse_function(std::string_view text, Line& line) {
  const std::size_t caller = text.find(" <-");
  const std::size_t arguments = text.find('(');
  if (caller == text.npos || text.substr(0, std::min(caller, arguments)).find(": ") != text.npos) return false;
  line.system = "ftrace";
  line.event = text.find(" (repeats: ", caller) == text.npos ? "function" : kRepeatsEvent;
  line.fields = trim(text);
  return true;
}

}  // namespace

bool parse_event(std::string_view rest, Line& line) {
  skip_difference_and_period(rest);
  const std::string_view before = rest;
  std::string_view name = take_word(rest);
  if (name == "type_id") {
    line.fields = trim(before);
    return true;
  }
  if (!name.ends_with(':') && parse_function(before, line)) return true;
  if (name.size() < 2 || !name.ends_with(':')) return false;
  name.remove_suffix(1);
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    line.system = name.substr(0, colon);
    name.remove_prefix(colon + 1);
  }
  line.event = is_address(name) ? "print" : name;
  line.fields = trim(rest);
  return is_word(name) && (line.system.empty() || is_word(line.system));
}

namespace {

// Removes "OPEN…CLOSE" from the end of the text.
void remove_last(std::string_view& text, std::string_view open, char close) {
  const std::size_t begin = text.find(open);
  if (begin != text.npos && text.ends_with(close)) text = trim(text.substr(0, begin));
}

// Parses a line of the function tracer without the caller (option noprint-parent): "f", "f+0x0/0x10 [module](fd=3)" or
// "f <ffffffff81234567>".
bool parse_lone_function(std::string_view text, Line& line) {
  text = trim(text);
  std::string_view name = text;
  remove_last(name, "(", ')');
  remove_last(name, " <", '>');
  remove_last(name, " [", ']');
  if (const std::size_t plus = name.find("+0x"); plus != name.npos) name = name.substr(0, plus);
  if (name.empty() || (is_digit(name.front()) && !is_address(name)) ||
      !std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; }))
    return false;
  line.system = "ftrace";
  line.event = "function";
  line.fields = text;
  return true;
}

// Parses the text after the time.
bool parse_entry_text(std::string_view rest, Line& line) {
  return parse_event(rest, line) || parse_lone_function(rest, line);
}

// Removes the process, such as "( 1091) " or "(-----) ". Linux 4.13 to 4.18 print it after the CPU.
void skip_process(std::string_view& text) {
  const std::string_view from = trim(text);
  const std::size_t end = from.find(')');
  if (from.starts_with('(') && end != from.npos &&
      from.substr(1, end - 1).find_first_not_of(" -0123456789") == from.npos)
    text = from.substr(end + 1);
}

// Parses the text after the CPU, such as "d..1.  5.906771: kmalloc: call_site=…".
bool parse_rest(std::string_view rest, Line& line) {
  skip_process(rest);
  return parse_time(take_time(rest, line), line) && parse_entry_text(rest, line);
}

// Parses "1204us :". The kernel marks long gaps, as in "1204us+:" (lat_print_timestamp() in
// kernel/trace/trace_output.c, Linux 6.18).
bool take_microseconds(std::string_view& text, Line& line) {
  std::string_view rest = text;
  std::string_view word = take_word(rest);
  const std::size_t digits = std::min(word.find("us"), word.size());
  const auto time = parse_number<std::uint64_t>(word.substr(0, digits));
  if (digits == word.size() || !time || *time > 1'000'000'000'000'000'000 / 1000) return false;
  word.remove_prefix(digits + 2);
  if (!word.ends_with(':') && take_word(rest) != ":") return false;
  line.time = *time * 1000;
  text = rest;
  return word.size() <= 2;
}

// Returns whether the text is "-0x1", as trace-cmd report prints irq-info with the options -R and -l.
bool is_raw_irq_info(std::string_view text) { return text.starts_with("-0x") && parse_value(text.substr(1)); }

// Parses the task, CPU and time of the latency format, and removes the time from `rest`: "sh-148  0d..1.  1204us : ".
// trace-cmd writes it as "sh-148  0d..1.  5.906771: ".
bool take_latency(std::string_view before, std::string_view word, std::string_view& rest, Line& line) {
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto cpu = parse_number<unsigned>(word.substr(0, digits));
  line = {};
  if (!cpu || *cpu >= kMostCpus) return false;
  const std::string_view irq_info = word.substr(digits);
  if (!(parse_irq_info(irq_info, line) || is_raw_irq_info(irq_info)) || !parse_task(before, line)) return false;
  line.cpu = *cpu;
  return take_microseconds(rest, line) || parse_time(take_time(rest, line), line);
}

bool parse_latency(std::string_view before, std::string_view word, std::string_view rest, Line& line) {
  return take_latency(before, word, rest, line) && parse_entry_text(rest, line);
}

// Parses perf's format without a CPU, such as "sh  148  5.906771: kmem:kmalloc: …".
bool parse_without_cpu(std::string_view before, std::string_view word, std::string_view rest, Line& line) {
  line = {};
  line.has_cpu = false;
  return parse_time(word, line) && line.time_in_ns && parse_task(before, line) && parse_event(rest, line) &&
         !line.system.empty();
}

// Calls take(before, word, after) for each word except the first, until a call returns true. Stops after 16 words,
// because a task's name has at most 15 characters.
template <typename Take>
bool any_word(std::string_view text, const Take& take) {
  constexpr unsigned kMostWords = 16;
  std::string_view rest = text;
  take_word(rest);
  for (unsigned i = 0; i < kMostWords && !rest.empty(); ++i) {
    const std::string_view before = text.substr(0, text.size() - rest.size());
    const std::string_view word = take_word(rest);
    if (take(before, word, rest)) return true;
  }
  return false;
}

// Calls take(line, rest) for each position that looks like a task and a CPU, such as "sh-148 [000] ", until a call
// returns true. The name of a task may look like a CPU, but has at most 15 characters.
template <typename Take>
bool any_prefix(std::string_view text, const Take& take) {
  constexpr unsigned kMostBrackets = 16;
  constexpr std::size_t kMostBytes = 16;  // number of characters to search for "]"
  std::size_t open = text.find('[');
  for (unsigned i = 0; i < kMostBrackets && open != std::string_view::npos; ++i, open = text.find('[', open + 1)) {
    const std::string_view number = text.substr(open + 1, kMostBytes);
    const std::size_t digits = number.find(']');
    if (digits == std::string_view::npos) continue;
    const std::string_view rest = text.substr(open + digits + 2);
    const auto cpu = parse_number<unsigned>(number.substr(0, digits));
    Line line;
    if (!cpu || *cpu >= kMostCpus || !(rest.empty() || rest.starts_with(' ')) ||
        !parse_task(text.substr(0, open), line))
      continue;
    line.cpu = *cpu;
    if (take(line, rest)) return true;
  }
  return false;
}

}  // namespace

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::optional<std::uint64_t> parse_value(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_number<std::uint64_t>(text.substr(2), 16);
  if (!text.starts_with('-')) return parse_number<std::uint64_t>(text);
  const auto value = parse_number<std::int64_t>(text);
  return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

std::optional<Line> parse_line(std::string_view text) {
  Line line;
  const bool found = any_prefix(text,
                                [&line](Line prefix, std::string_view rest) {
                                  line = prefix;
                                  return parse_rest(rest, line);
                                }) ||
                     any_word(text, [&line](std::string_view before, std::string_view word, std::string_view rest) {
                       return parse_latency(before, word, rest, line) || parse_without_cpu(before, word, rest, line);
                     });
  return found ? std::optional(line) : std::nullopt;
}

std::optional<EntryStart> parse_entry(std::string_view text) {
  Line line;
  const bool found = any_prefix(text,
                                [&line](Line prefix, std::string_view rest) {
                                  line = prefix;
                                  return parse_time(take_time(rest, line), line);
                                }) ||
                     any_word(text, [&line](std::string_view before, std::string_view word, std::string_view rest) {
                       return take_latency(before, word, rest, line);
                     });
  return found ? std::optional(EntryStart{line.cpu}) : std::nullopt;
}

bool was_event(std::string_view text) {
  if (text.starts_with('#')) return false;
  for (const char* const field : {" call_site=", " ptr=", " pfn=", " bytes_req=", " bytes_alloc=", " gfp_flags="})
    if (text.find(field) != std::string_view::npos) return true;
  return any_prefix(text, [](Line line, std::string_view rest) {
    const std::string_view word = take_time(rest, line);
    // If a time and more text follow, the line is from another tracer.
    return !parse_time(word, line) || trim(rest).empty();
  });
}

namespace {

// Parses "CPU:1 [LOST 123 EVENTS]" and "CPU:1 [123 EVENTS DROPPED]".
std::optional<LostLine> parse_lost_by_ftrace(std::string_view line) {
  const std::size_t begin = line.find("CPU:");
  const std::string_view before = trim(line.substr(0, begin));
  if (begin == line.npos || !line.ends_with(']') || !(before.empty() || before.ends_with(':'))) return std::nullopt;
  line.remove_prefix(begin);
  const std::size_t open = line.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  const auto cpu = parse_number<unsigned>(trim(line.substr(4, open - 4)));
  std::string_view words = line.substr(open + 1, line.size() - open - 2);
  if (!cpu || *cpu >= kMostCpus || words.find("EVENTS") == std::string_view::npos) return std::nullopt;
  if (words.starts_with("LOST ")) words.remove_prefix(5);
  LostLine lost{*cpu, parse_number<std::uint64_t>(take_word(words))};
  lost.buffer = before.substr(0, before.size() - (before.empty() ? 0 : 1));
  return lost;
}

// Parses "LOST 123 events!", which perf trace prints, and "sh 812 [001] 5.906771: PERF_RECORD_LOST lost 123". In the
// latter, the number is the last word.
std::optional<LostLine> parse_lost_by_perf(std::string_view line) {
  if (line.starts_with("LOST ") && line.ends_with(" events!"))
    if (const auto count = parse_number<std::uint64_t>(line.substr(5, line.size() - 5 - 8))) return LostLine{0, count};
  const std::size_t at = line.find("PERF_RECORD_LOST");
  if (at == std::string_view::npos) return std::nullopt;
  LostLine lost;
  lost.is_sum = line.substr(at).starts_with("PERF_RECORD_LOST_SAMPLES");
  const std::string_view words = line.substr(at);
  const std::size_t digits = words.find_last_not_of("0123456789") + 1;
  lost.count = parse_number<std::uint64_t>(words.substr(digits));
  any_prefix(line.substr(0, at), [&lost](const Line& prefix, std::string_view) {
    lost.cpu = prefix.cpu;
    return true;
  });
  return lost;
}

// Parses "** 123 printk messages dropped **", and messages that perf prints after a recording: "Processed 5 events and
// lost 3 chunks!".
std::optional<LostLine> parse_lost_messages(std::string_view line) {
  if (line.starts_with("** ") && line.find(" printk messages dropped") != std::string_view::npos) {
    line.remove_prefix(3);
    return LostLine{0, parse_number<std::uint64_t>(take_word(line))};
  }
  const bool is_of_perf = line.starts_with("Processed ") && line.find(" and lost ") != std::string_view::npos;
  return is_of_perf ? std::optional(LostLine{}) : std::nullopt;
}

}  // namespace

std::optional<LostLine> parse_lost(std::string_view line) {
  line = trim(line);
  if (const auto lost = parse_lost_by_ftrace(line)) return lost;
  if (const auto lost = parse_lost_by_perf(line)) return lost;
  return parse_lost_messages(line);
}

}  // namespace kmt::text
