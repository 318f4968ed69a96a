// SPDX-License-Identifier: GPL-2.0-or-later
// Writes rows in ClickHouse's format RowBinary. Values follow each other without separators and are little-endian. A
// string is preceded by its length as a varint. A Nullable value is preceded by a byte, which is 1 for null. In this
// format, a string can never be mistaken for SQL.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/endian.hpp"

namespace kmt {

class RowBinary {
 public:
  template <typename Number>
  requires std::integral<Number> || std::floating_point<Number> RowBinary& number(Number value) {
    store(&value, sizeof value);
    return *this;
  }
  RowBinary& text(std::string_view text) {
    length(text.size());
    bytes_ += text;
    return *this;
  }
  // Writes the number of elements of an array; the caller writes the elements next.
  RowBinary& length(std::uint64_t elements) {
    for (; elements >= 0x80; elements >>= 7) bytes_ += static_cast<char>(0x80 | (elements & 0x7f));
    bytes_ += static_cast<char>(elements);
    return *this;
  }
  template <typename Stored, typename Value>
  RowBinary& maybe(const std::optional<Value>& value) {
    number(static_cast<std::uint8_t>(value ? 0 : 1));
    return value ? number(static_cast<Stored>(*value)) : *this;
  }
  RowBinary& rows(const std::string& encoded) {  // appends rows that another RowBinary has encoded
    bytes_ += encoded;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void store(const void* value, std::size_t size) {
    bytes_.append(static_cast<const char*>(value), size);
    if (kHostOrder == ByteOrder::big) std::reverse(bytes_.end() - static_cast<std::ptrdiff_t>(size), bytes_.end());
  }

  std::string bytes_;
};

}  // namespace kmt
