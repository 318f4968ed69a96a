// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the events and losses of a text trace line by line. The fields of all events have the form "key=value".
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "formats/text/line.hpp"

namespace kmt::text {

class Lines {
 public:
  explicit Lines(Bytes file) : rest_(reinterpret_cast<const char*>(file.data()), file.size()), size_(file.size()) {}

  struct Unreadable {  // a line that was probably an event
    const char* why;
  };
  using Item = std::variant<Line, LostLine, Unreadable,
                            std::string_view>;  // an event, a loss, an unreadable event, or any other line
  // Returns the next line, or nothing at the end. Views are valid until the next call.
  std::optional<Item> next();
  std::uint64_t offset() const { return offset_; }                 // position of the item in the file
  std::uint64_t consumed() const { return size_ - rest_.size(); }  // bytes read

 private:
  std::optional<Line> parse(std::string_view line);
  bool rewrite_old_fields(Line& line);
  std::optional<Line> parse_minimal(std::string_view line);

  std::string_view rest_;
  std::uint64_t size_;
  std::uint64_t offset_ = 0;
  std::uint64_t number_ = 0;  // number of events without a time
  std::string fields_;
};

// Returns the word after "KEY=" or "KEY: ". The key must be a separate word. Empty if there is none.
std::string_view value_of(std::string_view fields, std::string_view key);

}  // namespace kmt::text
