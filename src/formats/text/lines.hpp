// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the events and losses of a text trace line by line. The fields of all events have the form "key=value".
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "formats/text/call_tracker.hpp"
#include "formats/text/line.hpp"

namespace kmt::text {

class Lines {
 public:
  // Both arguments must outlive this object. `first_tasks` are the tasks that an earlier pass found; null if there was
  // none.
  explicit Lines(Bytes file, const FirstTasks* first_tasks = nullptr)
      : rest_(reinterpret_cast<const char*>(file.data()), file.size()), size_(file.size()), calls_(first_tasks) {}

  struct Unreadable {  // a line that was probably an event
    const char* why;
  };
  // An event, a call, a loss, an unreadable event, or any other line. An event that is printed as a comment between
  // calls is a Line.
  using Item = std::variant<Line, CallLine, LostLine, Unreadable, std::string_view>;
  // Returns the next line, or nothing at the end. Views are valid until the next call.
  std::optional<Item> next();
  std::string_view text() const { return text_; }                  // the whole line of the item
  std::uint64_t offset() const { return offset_; }                 // position of the item in the file
  std::uint64_t consumed() const { return size_ - rest_.size(); }  // bytes read
  const FirstTasks& first_tasks() const { return calls_.first_tasks(); }

 private:
  std::optional<Line> parse(std::string_view line);
  std::optional<Item> parse_call(std::string_view line);
  Item complete(CallLine call);
  bool rewrite_old_fields(Line& line);
  std::optional<Line> parse_minimal(std::string_view line);

  std::string_view rest_;
  std::uint64_t size_;
  std::string_view text_;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;  // number of events without a time
  std::string fields_;
  CallTracker calls_;
  bool has_calls_ = false;  // a line of the function_graph tracer was seen, or its header
};

// Returns the word after "KEY=" or "KEY: ". The key must be a separate word. Blanks may precede the word: the kernel
// pads "(null)". Empty if there is none.
std::string_view value_of(std::string_view fields, std::string_view key);
// Like value_of(), but includes the blanks before the word.
std::string_view padded_value_of(std::string_view fields, std::string_view key);

}  // namespace kmt::text
