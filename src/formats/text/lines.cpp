// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/lines.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "formats/text/clean.hpp"
#include "formats/text/first_line.hpp"
#include "formats/text/flag_names.hpp"
#include "formats/text/memory_line.hpp"
#include "formats/text/partial_line.hpp"

namespace kmt::text {

namespace {

constexpr std::size_t kLongestLine = 16 << 10;

// Splits a line at blanks, but keeps "foo+0x1 [module]" as one word.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (word.empty()) continue;
    if (word.front() == '[' && !words.empty())
      words.back() = {words.back().data(), static_cast<std::size_t>(word.data() + word.size() - words.back().data())};
    else
      words.push_back(word);
  }
  return words;
}

// Returns the event for a type of kmemtrace's tracer: 0 or K is kmalloc, and 1 or C is a slab cache. Type 2 was for
// pages, but no kernel printed it.
std::string_view event_of(char type, bool allocates) {
  if (type == '0' || type == 'K') return allocates ? "kmalloc" : "kfree";
  if (type == '1' || type == 'C') return allocates ? "kmem_cache_alloc" : "kmem_cache_free";
  return {};
}

}  // namespace

// Removes the next line from the text and adds it to the item's text.
std::string_view Lines::take_line() {
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  const std::string_view line = rest_.substr(0, end);
  text_ = {text_.data(), static_cast<std::size_t>(line.data() + line.size() - text_.data())};
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  return line;
}

namespace {

// Returns the line without marks of quoted mail and without a carriage return.
std::string_view unquoted(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  return without_quotes(line);
}

// True if the line may be the rest of a line that was split. Then it is neither an event (with or without "[CPU]") nor
// a frame of a stack, which starts with blanks.
bool may_be_rest(std::string_view line) {
  constexpr std::size_t kBegin = 48;
  constexpr std::string_view kOtherStarts = "#+- \t=<";
  if (line.empty() || kOtherStarts.find(line.front()) != kOtherStarts.npos || line.find("kmem:") != line.npos)
    return false;
  for (std::size_t at = line.find('['); at < kBegin; at = line.find('[', at + 1))
    if (line.size() > at + 4 && line[at + 4] == ']' && is_digit(line[at + 1]) && is_digit(line[at + 3])) return false;
  return !parse_line(line) && !parse_call_line(line);
}

}  // namespace

std::size_t Lines::page_width_of(std::string_view text) {
  constexpr std::size_t kLookAt = 64 << 10;
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 250;
  // Minimum number of lines that have the maximum length and are followed by their rest.
  constexpr std::size_t kFewest = 3;
  std::size_t width = 0;
  std::size_t count = 0;
  std::size_t last = 0;
  for (std::string_view left = text.substr(0, kLookAt); !left.empty();) {
    const std::string_view line = unquoted(left.substr(0, left.find('\n')));
    left.remove_prefix(std::min(left.find('\n'), left.size() - 1) + 1);
    if (line.size() > width) width = line.size(), count = 0, last = 0;
    if (last == width && width != 0 && may_be_rest(line)) ++count;
    last = line.size();
  }
  return count >= kFewest && width >= kNarrowest && width <= kWidest ? width : 0;
}

// Returns the line together with its rest, if the line was split at the width of the page.
std::string_view Lines::with_split_parts(std::string_view line) {
  constexpr unsigned kMostParts = 8;
  if (page_width_ == 0 || line.starts_with('#')) return line;
  bool was_split = unquoted(text_).size() == page_width_;
  for (unsigned i = 0; was_split && i < kMostParts && !rest_.empty(); ++i) {
    if (!may_be_rest(unquoted(rest_.substr(0, rest_.find('\n'))))) break;
    if (i == 0) unsplit_ = line;
    const std::string_view part = unquoted(take_line());
    unsplit_ += part;
    was_split = part.size() == page_width_;
    line = unsplit_;
  }
  return line;
}

namespace {

bool is_call(std::string_view line) {
  const auto event = parse_line(line);
  return event ? parse_call_event(*event).has_value() : parse_call_line(line).has_value();
}

// True if the text has a column or event of the function_graph tracer.
bool may_start_calls(std::string_view text) {
  return text.find('|') != text.npos || text.find("funcgraph_") != text.npos;
}

// True if the line may be a call whose end is in the next line.
bool may_be_start_of_call(std::string_view line) {
  const auto event = parse_line(line);
  return event ? is_call_event(*event) : was_call(line) || was_event(line) || trim(line).ends_with('|');
}

// True if the line may be the end of a call whose start is in the previous line. Such an end has no task, time or CPU.
bool may_be_end_of_call(std::string_view line, bool is_after_call) {
  if (is_after_call) return line.starts_with("/*") && line.ends_with("*/") && line.find(": ") == line.npos;
  if (line.empty() || line.starts_with('#') || parse_line(line)) return false;
  const auto call = parse_call_line(line);
  if (call && (call->has_task || call->has_time || call->line.has_cpu)) return false;
  return line.find(')') == line.npos || line.find_first_not_of("0123456789 ") != line.find(')');
}

}  // namespace

// Returns the line of a call together with its rest, if a mail program wrapped the line at a blank.
std::string_view Lines::with_wrapped_call(std::string_view line) {
  constexpr unsigned kMostParts = 4;
  constexpr std::size_t kLookAt = 32;
  if (rest_.empty() || !(has_calls_ || may_start_calls(line) || may_start_calls(rest_.substr(0, kLookAt)))) return line;
  bool is_whole = is_call(line);
  if (is_whole ? line.find('|') == line.npos : !may_be_start_of_call(line)) return line;
  const std::string_view rest = rest_, text = text_;
  std::string joined(line);
  for (unsigned i = 1; i < kMostParts && !rest_.empty(); ++i) {
    const std::string_view next = trim(clean_line(take_line(), next_));
    if (next.size() > kLongestLine || !may_be_end_of_call(next, is_whole)) break;
    joined = fmt::format("{} {}", joined.substr(0, joined.find_last_not_of(' ') + 1), next);
    is_whole = is_call(joined);
    if (!is_whole) continue;
    unwrapped_ = joined;
    return unwrapped_;
  }
  rest_ = rest;
  text_ = text;
  return line;
}

std::string_view Lines::take_glued() {
  unglued_ = std::exchange(glued_, {});
  return unglued_;
}

namespace {

// Returns where a second line starts in the fields of an event, which is where the name of its task starts. ftrace,
// trace-cmd and perf print the name in 16 columns, and it has at most 15 characters. If a program removed blanks, the
// name starts after the event's last field. If the event is cut off, the name is the last word. Empty if a blank or the
// name is missing.
std::optional<std::size_t> start_of_glued(const Line& first, const Line& second) {
  constexpr std::size_t kColumns = 16;
  const std::string_view fields = first.fields;
  if (second.comm.empty()) return std::nullopt;
  const auto end = static_cast<std::size_t>(second.comm.data() + second.comm.size() - fields.data());
  const std::size_t columns = end > kColumns ? end - kColumns : 0;
  const std::size_t field = fields.substr(0, end).rfind('=');
  if (fields[columns] == ' ' && (field == fields.npos || field < columns)) return columns;
  Line cut = first;
  cut.fields = fields.substr(0, fields.find(' ', field));
  const std::size_t blank = is_whole_memory_event(cut) ? cut.fields.size() : fields.substr(0, end).rfind(' ');
  return blank < end && end - blank <= kColumns ? std::optional(blank) : std::nullopt;
}

// Returns where the text of the event starts in the line, if another entry precedes it in the same line.
std::optional<std::size_t> start_after_entry(const Line& event, std::string_view line) {
  constexpr std::size_t kShortestEntry = 24;
  if (line.size() < kShortestEntry || event.comm.data() < line.data() + kShortestEntry ||
      event.comm.data() > line.data() + line.size())
    return std::nullopt;
  const auto start = static_cast<std::size_t>(event.comm.data() - line.data());
  const std::string_view before = line.substr(0, start);
  return parse_entry(before) || was_event(before) ? std::optional(start) : std::nullopt;
}

}  // namespace

// Splits a line that has two events because a line break is lost. This often happens after messages of programs.
Lines::Item Lines::without_glued(Item item, std::string_view line) {
  constexpr const char* kTwoEvents = "a line break is lost, so it has two events";
  Line* const first = std::get_if<Line>(&item);
  if (first == nullptr) return item;
  if (const auto start = start_after_entry(*first, line)) {
    glued_ = line.substr(*start);
    return Unreadable{kTwoEvents};
  }
  // The event `console` has the kernel's log, which may quote events.
  if (first->fields.find(": ") == first->fields.npos || first->event == "console") return item;
  const auto second = parse_line(first->fields);
  if (!second) return item;
  const bool is_quoted = second->time < first->time && !is_memory_event(*first);
  const auto start = is_quoted ? std::nullopt : start_of_glued(*first, *second);
  if (!start) return Unreadable{kTwoEvents};
  glued_ = first->fields.substr(*start);
  first->fields = trim(first->fields.substr(0, *start));
  return item;
}

std::optional<Lines::Item> Lines::next(std::uint64_t end) {
  auto item = next_of_all();
  while (item && is_known_repeat()) {
    if (consumed() >= end && !has_glued()) return std::nullopt;
    item = next_of_all();
  }
  return item;
}

bool Lines::is_known_repeat() {
  if (known_ == nullptr || known_->repeated.empty()) return false;
  const std::vector<std::uint64_t>& repeated = known_->repeated;
  while (repeats_ < repeated.size() && repeated[repeats_] < offset_) ++repeats_;
  return repeats_ < repeated.size() && repeated[repeats_] == offset_;
}

std::optional<Lines::Item> Lines::next_of_all() {
  if (!glued_.empty()) {
    const std::string_view glued = take_glued();
    is_first_ = false;
    return without_glued(parse_item(glued), glued);
  }
  if (rest_.empty()) return std::nullopt;
  offset_ = consumed();
  is_first_ = offset_ == 0;
  text_ = rest_.substr(0, 0);
  std::string_view line = take_line();
  if (line.size() > kLongestLine) return Item(Unreadable{"it is longer than 16 KiB"});
  line = with_wrapped_call(with_split_parts(clean_line(line, clean_)));
  // The kernel prints the next message after this one, on the same line.
  constexpr std::string_view kDropped = " printk messages dropped ** ";
  if (const std::size_t at = trim(line).starts_with("** ") ? line.find(kDropped) : line.npos; at != line.npos) {
    const std::string rest(line.substr(at + kDropped.size()));
    glued_ = clean_line(rest, next_);
    return parse_item(line.substr(0, at + kDropped.size()));
  }
  Item item = without_glued(parse_item(line), line);
  return glued_.empty() ? with_continuation(item, line) : item;
}

namespace {

// True if the line looks like a function without its caller, but has the name of a memory event.
bool is_cut_off(const Line& line) {
  if (line.event != "function" || !is_word(line.fields)) return false;
  Line event = line;
  event.system = {};
  event.event = line.fields;
  return is_memory_event(event);
}

}  // namespace

Lines::Item Lines::parse_item(std::string_view line) {
  const std::string buffer = std::exchange(next_buffer_, {});
  if (auto event = parse(line)) {
    if (is_first_ && starts_inside_name(line, *event, second_line())) event->comm = kUnknownName;
    if (!buffer.empty() && event->buffer.empty()) event->buffer = buffer_ = buffer;
    if (!traces_functions_ && is_cut_off(*event)) return Item(Unreadable{"it is cut off after the event's name"});
    if (!is_call_event(*event)) return Item(*event);
    const auto call = parse_call_event(*event);
    return call ? complete(*call) : Item(Unreadable{"it is damaged, cut off or has an unknown form"});
  }
  if (const auto lost = parse_lost(line)) {
    next_buffer_ = lost->buffer;
    return without_known_losses(*lost).value_or(Item(line));
  }
  if (const auto call = parse_call(line)) return *call;
  if (const auto event = parse_rare(line)) {
    if (!is_first_ || !starts_inside_time(line, *event, second_line())) return Item(*event);
    return Item(Unreadable{"its time may lack the first digits"});
  }
  if (line.starts_with("# tracer: function")) traces_functions_ = true;
  if (line.starts_with("# tracer: function_graph")) has_calls_ = true;
  // If the header names only the last column, which always exists, calls have no other columns.
  if (has_calls_ && line.starts_with('#') && trim(line.substr(1)) == "FUNCTION CALLS") has_bare_calls_ = true;
  if (was_event(line) || (has_calls_ && was_call(line)))
    return Item(Unreadable{"it is damaged, cut off or has an unknown form"});
  return Item(line);
}

// Returns the line after the current one without reading it.
std::string_view Lines::second_line() { return clean_line(rest_.substr(0, rest_.find('\n')), next_); }

// perf writes sums of losses when a recording ends. Subtracts from such a sum the losses that other lines have
// reported.
std::optional<Lines::Item> Lines::without_known_losses(const LostLine& lost) {
  if (!lost.is_sum || !lost.count) {
    counted_lost_ = sum_of_counts(counted_lost_, lost.count.value_or(0));
    return Item(lost);
  }
  const std::uint64_t known = std::min(*lost.count, counted_lost_);
  counted_lost_ -= known;
  if (*lost.count == known) return std::nullopt;
  return Item(LostLine{lost.cpu, *lost.count - known});
}

namespace {

// True if a line may be the rest of the word `last`: flags, or a field that was wrapped at its "=".
bool may_continue_word(std::string_view last, std::string_view line) {
  const std::string_view word = line.substr(0, line.find(' '));
  if (word.empty() || word.find('=') != word.npos) return line.starts_with('=') && is_word(last);
  if (last.ends_with('=')) return true;
  if (!last.starts_with("gfp_flags=")) return false;
  const std::string_view flag = last.substr(last.find_last_of("|=") + 1);
  return std::ranges::all_of(split(word, '|'), [](std::string_view name) { return name.empty() || is_word(name); }) &&
         (word.starts_with('|') || is_cut_flag(flag));
}

// True if the line may be the rest of an event that was wrapped at a blank. Such a rest starts with a field, the module
// of a call site, or a padded NULL.
bool may_continue(std::string_view event, std::string_view line) {
  while (line.starts_with('>') || line.starts_with(' ')) line.remove_prefix(1);
  const std::string_view last = event.substr(event.find_last_of(' ') + 1);
  if (line.starts_with('[')) return last.starts_with("call_site=");
  if (line.starts_with("cpus=")) return false;  // the header of another text of trace-cmd
  if (may_continue_word(last, line)) return true;
  constexpr std::size_t kLongestName = 32;
  const std::size_t equals = line.substr(0, kLongestName).find('=');
  // A field that the event has already belongs to another event.
  return equals != line.npos && is_word(line.substr(0, equals)) && value_of(event, line.substr(0, equals)).empty();
}

std::optional<Line> parse_memory_event(std::string_view text) {
  auto line = parse_line(text);
  if (!line) line = parse_partial(text);
  return line && is_whole_memory_event(*line) ? line : std::nullopt;
}

}  // namespace

// Joins the lines of an event that a mail program wrapped, if they are a complete event together.
Lines::Item Lines::with_continuation(Item item, std::string_view line) {
  constexpr unsigned kMostLines = 6;
  const bool is_event = std::holds_alternative<Line>(item);
  if (!is_event && !std::holds_alternative<Unreadable>(item)) return item;
  const bool may_lack_event = !is_event && line.find('=') == line.npos;
  if (rest_.empty() || !(may_lack_event || may_continue(line, rest_))) return item;
  std::string_view rest = rest_, text = text_;
  std::size_t length = 0;
  joined_ = trim(line);
  for (unsigned i = 1; i < kMostLines && !rest_.empty(); ++i) {
    const bool may_be_event = may_lack_event && i == 1;
    if (!may_be_event && !may_continue(joined_, rest_)) break;
    const std::string_view whole = take_line();
    if (whole.size() > kLongestLine) break;
    const std::string_view next = clean_line(whole, next_);
    if (trim(next).empty() || next.starts_with('#')) break;
    if (parse_lost(next) || parse_line(next) || !(may_be_event || may_continue(joined_, next))) break;
    if (!may_continue_word(std::string_view(joined_).substr(joined_.rfind(' ') + 1), trim(next))) joined_ += ' ';
    joined_ += trim(next);
    if (!parse_memory_event(joined_)) continue;
    rest = rest_;
    text = text_;
    length = joined_.size();
  }
  rest_ = rest;
  text_ = text;
  joined_.resize(length);
  return length == 0 ? item : parse_item(joined_);
}

// Parses forms that are rare, and therefore tried last.
std::optional<Line> Lines::parse_rare(std::string_view text) {
  std::optional<Line> line = parse_verbose(text);
  if (!line) line = parse_partial(text);
  if (!line) line = parse_perf_trace(text, fields_);
  if (line && needs_names_ && is_nameless(*line)) return std::nullopt;
  if (!line || line->has_time) return line;
  if (needs_times_) return std::nullopt;
  line->time = ++number_;
  line->time_in_ns = false;
  return line;
}

// Parses a line of the function_graph tracer, or two lines of it if the line break is lost.
std::optional<Lines::Item> Lines::parse_call(std::string_view line) {
  constexpr unsigned kMostPrefixes = 2;
  for (unsigned i = 0; i <= kMostPrefixes && !line.empty(); ++i, line = without_prefix_word(line)) {
    if (const auto item = parse_call_without_prefix(line)) return item;
    if (line.find('|') == line.npos && !has_calls_) return std::nullopt;
    const auto second = start_of_second_call(line);
    if (!second) continue;
    glued_ = line.substr(*second);
    return parse_call_without_prefix(line.substr(0, *second));
  }
  return std::nullopt;
}

std::optional<Lines::Item> Lines::parse_call_without_prefix(std::string_view line) {
  if (const auto call = parse_call_line(line)) return complete(*call);
  if (const auto call = has_bare_calls_ ? parse_bare_call_line(line) : std::nullopt) return complete(*call);
  const auto change = parse_switch_line(line);
  const auto interrupt = parse_interrupt_line(line);
  if (change) calls_.add(*change);
  if (interrupt) calls_.add(*interrupt);
  return change || interrupt ? std::optional(Item(line)) : std::nullopt;
}

Lines::Item Lines::complete(CallLine call) {
  has_calls_ = true;
  has_indentation_ = has_indentation_ || call.depth.value_or(0) > 0;
  if (ignores_indentation_) call.depth.reset();
  calls_.complete(call, ++number_);
  return call.part == CallPart::comment ? Item(call.line) : Item(call);
}

std::optional<Line> Lines::parse(std::string_view line) {
  const std::string_view text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  if (text.starts_with('+') || text.starts_with('-'))
    if (auto minimal = parse_minimal(text)) return minimal;
  std::optional<Line> event = parse_line(line);
  if (event && event->event.empty() && !rewrite_old_fields(*event)) return std::nullopt;
  return event;
}

// Rewrites fields such as "type_id 0 call_site 3222 ptr 4111 bytes_req 8 …" from Linux 2.6.29 to 2.6.35. Addresses are
// decimal numbers or symbols.
bool Lines::rewrite_old_fields(Line& line) {
  const std::vector<std::string_view> words = words_of(line.fields);
  if (words.size() < 6) return false;
  fields_.clear();
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    // Convert decimal addresses to hexadecimal, because the parser of fields expects them in this form.
    const bool is_address = words[i] == "call_site" || words[i] == "ptr";
    const std::optional<std::uint64_t> number = is_address ? parse_value(words[i + 1]) : std::nullopt;
    fields_ += number ? fmt::format(" {}={:#x}", words[i], *number) : fmt::format(" {}={}", words[i], words[i + 1]);
  }
  line.event = event_of(words[1].front(), line.fields.find(" bytes_req ") != std::string_view::npos);
  line.system = "kmem";
  line.fields = fields_;
  return words[1].size() == 1 && !line.event.empty();
}

// Parses lines of kmemtrace's tracer with the option kmem_minimalistic, which prints no time, task or CPU:
//   +      K     8     8   000000d0   0xffff88001e8a7a40    -1   symbol
//   -      K                          0xffff88001e8a7a40         symbol
std::optional<Line> Lines::parse_minimal(std::string_view text) {
  const bool allocates = text.front() == '+';
  const std::vector<std::string_view> words = words_of(text.substr(1));
  const std::size_t expected = allocates ? 7 : 3;
  if (words.size() < expected || words.size() > expected + 1 || words[0].size() != 1) return std::nullopt;
  const std::string_view ptr = words[allocates ? 4 : 1];
  Line line;
  line.event = event_of(words[0].front(), allocates);
  if (line.event.empty() || !ptr.starts_with("0x") || !parse_value(ptr)) return std::nullopt;
  fields_ = fmt::format("call_site={} ptr={}", words[expected - 1], ptr);
  if (allocates)
    fields_ +=
        fmt::format(" bytes_req={} bytes_alloc={} gfp_flags=0x{} node={}", words[1], words[2], words[3], words[5]);
  line.system = "kmem";
  line.fields = fields_;
  line.has_time = false;
  line.time = ++number_;
  line.time_in_ns = false;
  return line;
}

std::string_view padded_value_of(std::string_view fields, std::string_view key) {
  for (std::size_t at = fields.find(key); at != std::string_view::npos; at = fields.find(key, at + 1)) {
    if (at > 0 && fields[at - 1] != ' ') continue;
    std::string_view rest = fields.substr(at + key.size());
    if (rest.starts_with('='))
      rest.remove_prefix(1);
    else if (rest.starts_with(": "))
      rest.remove_prefix(2);
    else
      continue;
    const std::size_t blanks = std::min(rest.find_first_not_of(' '), rest.size());
    const std::string_view padded = rest.substr(0, rest.find(' ', blanks));
    const bool is_next_field = blanks > 0 && padded.find('=') != std::string_view::npos;
    return is_next_field ? std::string_view() : padded;
  }
  return {};
}

std::string_view value_of(std::string_view fields, std::string_view key) { return trim(padded_value_of(fields, key)); }

}  // namespace kmt::text
