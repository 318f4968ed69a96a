// SPDX-License-Identifier: GPL-2.0-or-later
// The events and losses of a text, line by line, in one form: fields are "key=value".
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "formats/text/line.hpp"

namespace kmt::text {

class Lines {
 public:
  explicit Lines(Bytes file) : rest_(reinterpret_cast<const char*>(file.data()), file.size()), size_(file.size()) {}

  struct Unreadable {  // a line of an event
    const char* why;
  };
  using Item = std::variant<Line, LostLine, Unreadable, std::string_view>;  // an event, a loss, …, any other line
  // Views are valid until the next call. Empty at the end.
  std::optional<Item> next();
  std::uint64_t offset() const { return offset_; }                 // of the item in the file
  std::uint64_t consumed() const { return size_ - rest_.size(); }  // bytes

 private:
  std::optional<Line> parse(std::string_view line);
  bool rewrite_old_fields(Line& line);
  std::optional<Line> parse_minimal(std::string_view line);

  std::string_view rest_;
  std::uint64_t size_;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;  // of events without time
  std::string fields_;
};

// Returns the value after "KEY=" or "KEY: " as a separate word; empty if there is none.
std::string_view value_of(std::string_view fields, std::string_view key);

}  // namespace kmt::text
