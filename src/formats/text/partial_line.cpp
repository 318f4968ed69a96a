// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/partial_line.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "formats/text/lines.hpp"
#include "formats/text/memory_line.hpp"
#include "trace/event.hpp"

namespace kmt::text {

namespace {

// Removes the last word from the text and returns it.
std::string_view take_last_word(std::string_view& text) {
  text = trim(text);
  const std::size_t blank = text.find_last_of(' ');
  const std::string_view word = text.substr(blank == text.npos ? 0 : blank + 1);
  text = trim(text.substr(0, text.size() - word.size()));
  return word;
}

bool is_number(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == text.npos; }

// Parses "123.456ms" as nanoseconds.
std::optional<std::uint64_t> parse_milliseconds(std::string_view text) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  if (!text.ends_with("ms")) return std::nullopt;
  text.remove_suffix(2);
  const std::size_t point = text.find('.');
  if (point == text.npos || text.size() - point != 4) return std::nullopt;
  const auto whole = parse_number<std::uint64_t>(text.substr(0, point));
  const auto thousandths = parse_number<std::uint64_t>(text.substr(point + 1));
  if (!whole || !thousandths || *whole >= UINT64_MAX / kMillisecond) return std::nullopt;
  return *whole * kMillisecond + *thousandths * 1000;
}

// Returns the context for the bits of `flags` (enum trace_flag_type in include/linux/trace_events.h, Linux 6.18).
std::uint8_t context_of(unsigned flags) {
  unsigned context = 0;
  if ((flags & 0x08) != 0) context |= Context::kHardIrq;
  if ((flags & 0x10) != 0) context |= Context::kSoftIrq;
  if ((flags & 0x40) != 0) context |= Context::kNmi;
  return static_cast<std::uint8_t>(context);
}

// Parses "[000]" at the end of the text.
void take_bracketed_cpu(std::string_view& before, Line& line) {
  std::string_view rest = before;
  const std::string_view word = take_last_word(rest);
  line.has_cpu = false;
  if (!word.starts_with('[') || !word.ends_with(']')) return;
  const auto cpu = parse_number<unsigned>(word.substr(1, word.size() - 2));
  if (!cpu || *cpu >= kMostCpus) return;
  line.cpu = *cpu;
  line.has_cpu = true;
  before = rest;
}

// Parses irq-info such as "d.h1." at the end of the text. It must follow "[000]", because the name of a task may look
// like irq-info.
void take_last_irq_info(std::string_view& before, Line& line) {
  std::string_view rest = before;
  const std::string_view word = take_last_word(rest);
  if (rest.ends_with(']') && word.find('.') != word.npos && parse_irq_info(word, line)) before = rest;
}

// Parses the columns before the event. Returns false if one of them is something else.
bool parse_columns_before(std::string_view before, Line& line) {
  constexpr std::size_t kMostOfAName = 15;
  std::string_view rest = before;
  std::string_view word = take_last_word(rest);
  line.has_time = word.ends_with(':');
  if (is_number(word) && rest.ends_with(':')) {  // perf's period
    line.has_time = true;
    word = take_last_word(rest);
  }
  if (line.has_time && !parse_clock(word.substr(0, word.size() - 1), line)) return false;
  // In "sh 812:", the number is the ID of a task and not a time.
  if (line.has_time && !line.time_in_ns && !rest.empty()) return false;
  if (line.has_time) before = rest;
  take_last_irq_info(before, line);
  take_bracketed_cpu(before, line);
  before = trim(before);
  if (before.empty() || parse_task(before, line)) return true;
  line.tid = -1;
  line.comm = before;
  if (const auto tid = parse_number<std::int32_t>(before.substr(before.find('/') + 1))) {
    line.tid = *tid;
    line.comm = {};
  }
  return line.comm.size() <= kMostOfAName;
}

}  // namespace

std::optional<Line> parse_verbose(std::string_view text) {
  const std::size_t open = text.find(" [");
  const std::size_t close = text.find("] ", std::min(open, text.size()));
  const std::size_t end = text.find("): ", std::min(close, text.size()));
  if (end == text.npos) return std::nullopt;
  std::string_view before = text.substr(0, open);
  std::string_view times = text.substr(close + 2, end - close - 2);
  const std::size_t difference = times.find(" (+");
  if (difference == times.npos) return std::nullopt;
  times = times.substr(0, difference);
  take_last_word(before);  // number of the event
  take_last_word(before);  // depth of disabled preemption
  const auto flags = parse_number<unsigned>(take_last_word(before));
  const auto cpu = parse_number<unsigned>(take_last_word(before));
  const auto time = parse_milliseconds(times);
  const auto ticks = parse_number<std::uint64_t>(times);
  Line line;
  if (!flags || !cpu || *cpu >= kMostCpus || !(time || ticks) || !parse_task(before, line)) return std::nullopt;
  line.cpu = *cpu;
  line.context = context_of(*flags);
  line.time = time ? *time : *ticks;
  line.time_in_ns = time.has_value();
  return parse_event(text.substr(end + 3), line) ? std::optional(line) : std::nullopt;
}

std::optional<Line> parse_partial(std::string_view text) {
  const std::size_t colon = text.find(": ");
  constexpr unsigned kMostColons = 3;  // one after the time, one after the event, and one in the first field
  std::size_t end = colon;
  for (unsigned i = 0; i < kMostColons && end != text.npos; ++i, end = text.find(": ", end + 1)) {
    const std::size_t blank = text.find_last_of(' ', end);
    const std::size_t begin = blank == text.npos ? 0 : blank + 1;
    Line line;
    if (!parse_event(text.substr(begin), line) || !is_whole_memory_event(line)) continue;
    const bool is_named = !line.system.empty() || trim(text.substr(0, begin)).empty();
    if (!parse_columns_before(text.substr(0, begin), line)) continue;
    const bool has_only_time = line.has_time && line.time_in_ns && line.comm.empty();  // even if there is a CPU
    if (is_named || has_only_time) return line;
  }
  return std::nullopt;
}

namespace {

// Parses "0.000 kmem:kmalloc:call_site=… ptr=…" or "0.000 (         ): kmem:…" from perf trace before Linux 5.0.
std::optional<Line> parse_old_perf_trace(std::string_view text) {
  constexpr std::string_view kSystem = "kmem:";
  const std::size_t at = text.find(kSystem);
  if (at == text.npos) return std::nullopt;
  const std::size_t colon = text.find(':', at + kSystem.size());
  if (colon == text.npos) return std::nullopt;
  const std::string_view time = trim(text.substr(0, std::min(at, text.find('('))));
  const auto since = parse_milliseconds(fmt::format("{}ms", time));
  Line line;
  line.has_cpu = false;
  line.has_end_mark = true;
  line.system = "kmem";
  line.event = text.substr(at + kSystem.size(), colon - at - kSystem.size());
  line.fields = trim(text.substr(colon + 1));
  const bool has_wrapper = std::ranges::count(line.fields, ')') > std::ranges::count(line.fields, '(');
  if (has_wrapper && line.fields.ends_with(')')) line.fields.remove_suffix(1);
  if (!since || !is_word(line.event) || !is_whole_memory_event(line)) return std::nullopt;
  line.time = *since;
  return line;
}

// Adds the fields that perf trace left out because they are 0 (trace__fprintf_tp_fields() in
// tools/perf/builtin-trace.c, Linux 6.18).
void add_fields_of_0(std::string_view event, std::string& fields) {
  constexpr std::pair<std::string_view, std::string_view> kFields[] = {
      {"kfree", "ptr"},           {"kmem_cache_free", "ptr"},      {"kmalloc", "ptr"},
      {"kmalloc", "node"},        {"kmem_cache_alloc", "ptr"},     {"kmem_cache_alloc", "node"},
      {"mm_page_free", "pfn"},    {"mm_page_free", "order"},       {"mm_page_alloc", "pfn"},
      {"mm_page_alloc", "order"}, {"mm_page_alloc", "migratetype"}};
  for (const auto& [of, name] : kFields)
    if (of == event && value_of(fields, name).empty()) fields += fmt::format(" {}=0", name);
}

}  // namespace

std::optional<Line> parse_perf_trace(std::string_view text, std::string& fields) {
  if (const auto old = parse_old_perf_trace(text)) return old;
  const std::size_t open = text.find('(', text.find("kmem:") == text.npos ? text.size() : text.find("kmem:"));
  if (open == text.npos || !text.ends_with(')')) return std::nullopt;
  std::string_view before = text.substr(0, open);
  const std::string_view event = take_last_word(before);
  // `before` has the time, the duration in brackets, and the task. The name of the task may have blanks. If perf traced
  // a single thread, it prints no task.
  Words words(before);
  const std::string_view time = words.next();
  std::string_view task = words.rest();
  if (task.starts_with('(')) task = task.substr(std::min(task.find(')'), task.size() - 1) + 1);
  if (task.starts_with(':')) task.remove_prefix(1);
  task = trim(task);
  Line line;
  line.has_cpu = false;
  line.has_end_mark = true;
  line.system = "kmem";
  line.event = event.substr(std::min(event.find(':') + 1, event.size()));
  if (!is_word(line.event) || !event.starts_with("kmem:")) return std::nullopt;
  const auto since = parse_milliseconds(fmt::format("{}ms", time));
  const std::size_t slash = task.rfind('/');
  const auto tid = parse_number<std::int32_t>(task.substr(slash == task.npos ? 0 : slash + 1));
  if (!since || (!tid && !task.empty())) return std::nullopt;
  line.time = *since;
  if (tid) line.tid = *tid;
  line.comm = task.substr(0, slash == task.npos ? 0 : slash);
  fields.clear();
  for (const std::string_view part : split(text.substr(open + 1, text.size() - open - 2), ',')) {
    const std::size_t colon = part.find(": ");
    if (colon == part.npos) continue;
    const std::string_view name = trim(part.substr(0, colon));
    std::string_view value = trim(part.substr(colon + 2));
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
    // Printed as a negative decimal number.
    const auto number = name == "call_site" ? parse_value(value) : std::nullopt;
    fields += number ? fmt::format(" {}={:#x}", name, *number) : fmt::format(" {}={}", name, value);
  }
  add_fields_of_0(line.event, fields);
  line.fields = fields;
  return is_whole_memory_event(line) ? std::optional(line) : std::nullopt;
}

}  // namespace kmt::text
