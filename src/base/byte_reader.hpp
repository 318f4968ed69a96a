// SPDX-License-Identifier: GPL-2.0-or-later
// Reads untrusted bytes with bounds checks, in the given byte order. All parsers use this class. If bytes are missing,
// each method throws Error with the file offset. No method reads beyond the end, or allocates memory for bytes that are
// missing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/endian.hpp"

namespace kmt {

using Bytes = std::span<const std::uint8_t>;

// Views the bytes as text. The bytes must outlive the text.
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class ByteReader {
 public:
  // `base` is the file offset of data[0], for messages. The bytes must outlive this object.
  ByteReader(Bytes data, ByteOrder order, std::uint64_t base = 0) : data_(data), order_(order), base_(base) {}

  std::uint8_t u8() { return *take(1).data(); }
  std::uint16_t u16() { return load<std::uint16_t>(take(2).data(), order_); }
  std::uint32_t u32() { return load<std::uint32_t>(take(4).data(), order_); }
  std::uint64_t u64() { return load<std::uint64_t>(take(8).data(), order_); }
  Bytes bytes(std::uint64_t count) { return take(count); }
  std::string_view text(std::uint64_t count);
  std::string_view c_string();  // reads a text up to its terminating NUL, and skips the NUL
  void skip(std::uint64_t count) { take(count); }
  void seek(std::uint64_t position);

  // Returns the current position, in bytes from the start of the data.
  std::uint64_t position() const { return position_; }
  // Returns the current position, in bytes from the start of the file.
  std::uint64_t file_offset() const { return base_ + position_; }
  std::uint64_t remaining() const { return data_.size() - position_; }
  ByteOrder order() const { return order_; }

 private:
  Bytes take(std::uint64_t count);

  Bytes data_;
  ByteOrder order_;
  std::uint64_t base_;
  std::uint64_t position_ = 0;
};

}  // namespace kmt
