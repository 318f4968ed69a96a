// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the events and losses of a text trace line by line. The fields of all events have the form "key=value".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "formats/text/call_tracker.hpp"
#include "formats/text/line.hpp"

namespace kmt::text {

class Lines {
 public:
  // Facts from an earlier pass over the text.
  struct Known {
    FirstTasks first_tasks;
    bool has_times = false;  // at least one event has a time, so events without a time are damaged
    bool has_names = false;  // at least one event has the name of its task, so the start of other lines is cut off
    bool has_calls = false;  // the text has lines of the function_graph tracer, so similar lines are damaged calls
    bool has_indentation = false;         // at least one call is indented; otherwise braces show the depth of calls
    std::vector<std::uint64_t> repeated;  // positions of items that repeat earlier ones, in order; they are skipped
  };
  // Both arguments must outlive this object. `known` is null in the first pass.
  explicit Lines(Bytes file, const Known* known = nullptr)
      : rest_(reinterpret_cast<const char*>(file.data()), file.size()),
        size_(file.size()),
        known_(known),
        needs_times_(known != nullptr && known->has_times),
        needs_names_(known != nullptr && known->has_names),
        calls_(known == nullptr ? nullptr : &known->first_tasks),
        has_calls_(known != nullptr && known->has_calls),
        ignores_indentation_(known != nullptr && !known->has_indentation),
        page_width_(page_width_of(rest_)) {}

  struct Unreadable {  // a line that cannot be parsed, but was probably an event
    const char* why;
  };
  // An event, a call, a loss, an unreadable event, or the text of any other line. An event that is printed as a comment
  // between calls is a Line, too.
  using Item = std::variant<Line, CallLine, LostLine, Unreadable, std::string_view>;
  // Returns the next item, or nothing at the end. Its texts are valid until the next call. If the lines before the
  // position `end` only repeat earlier ones, also returns nothing.
  std::optional<Item> next(std::uint64_t end = std::numeric_limits<std::uint64_t>::max());
  std::string_view text() const { return text_; }                  // all lines of the item
  std::uint64_t offset() const { return offset_; }                 // position of the item in the file, in bytes
  std::uint64_t consumed() const { return size_ - rest_.size(); }  // bytes read
  bool has_glued() const { return !glued_.empty(); }               // next() returns one more item of the last line
  // Goes on at a later position, which must be the start of a line.
  void skip_to(std::uint64_t offset) { rest_.remove_prefix(to_size(offset - consumed())); }
  // Facts for a later pass.
  const FirstTasks& first_tasks() const { return calls_.first_tasks(); }
  bool has_calls() const { return has_calls_; }
  bool has_indentation() const { return has_indentation_; }

 private:
  std::optional<Item> next_of_all();
  bool is_known_repeat();
  // Returns the width at which a terminal or mail program split longer lines, also in the middle of words. Returns 0 if
  // the text has no such lines.
  static std::size_t page_width_of(std::string_view text);
  std::string_view take_line();
  std::string_view take_glued();
  Item without_glued(Item item, std::string_view line);
  std::string_view with_split_parts(std::string_view line);
  std::string_view with_wrapped_call(std::string_view line);
  Item parse_item(std::string_view line);
  std::optional<Line> parse(std::string_view line);
  std::optional<Line> parse_rare(std::string_view line);
  std::string_view second_line();
  Item with_continuation(Item item, std::string_view line);
  std::optional<Item> without_known_losses(const LostLine& lost);
  std::optional<Item> parse_call(std::string_view line);
  std::optional<Item> parse_call_without_prefix(std::string_view line);
  Item complete(CallLine call);
  bool rewrite_old_fields(Line& line);
  std::optional<Line> parse_minimal(std::string_view line);

  std::string_view rest_;
  std::uint64_t size_;
  std::string_view text_;
  std::uint64_t offset_ = 0;
  bool is_first_ = false;           // the item starts at the beginning of the file
  std::uint64_t number_ = 0;        // number of events without a time so far; it serves as their time
  std::uint64_t counted_lost_ = 0;  // reported lost events that have not been subtracted from a sum
  const Known* known_;
  std::size_t repeats_ = 0;  // number of known repeated items before the current position
  bool needs_times_;
  bool needs_names_;
  std::string fields_, clean_, next_, joined_;
  // The buffers of the next and the current event. trace-cmd prints a buffer's name before the line of a loss, but not
  // before the event after the loss. So this event gets the name from the line of the loss.
  std::string next_buffer_, buffer_;
  std::string glued_, unglued_;  // the second item of a line that lacks a line break: not yet read, and being read
  CallTracker calls_;
  bool has_calls_;                 // true after a line of the function_graph tracer, or its header
  bool has_bare_calls_ = false;    // true after a header of the function_graph tracer without other columns
  bool traces_functions_ = false;  // true after the header of the function tracer
  bool ignores_indentation_;
  std::size_t page_width_;
  std::string unsplit_, unwrapped_;
  bool has_indentation_ = false;
};

// Returns the word after "KEY=" or "KEY: ". The key must be a separate word. Blanks may precede the result, because the
// kernel pads "(null)". Empty if the key is missing.
std::string_view value_of(std::string_view fields, std::string_view key);
// Does the same as value_of(), but also returns the blanks before the word.
std::string_view padded_value_of(std::string_view fields, std::string_view key);

}  // namespace kmt::text
