// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and writes the elements of chunk payloads: varints and texts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/arithmetic/size.hpp"
#include "base/byte_reader.hpp"
#include "base/error.hpp"
#include "base/varint.hpp"

namespace kmt::kmt_format {

using Payload = std::vector<std::uint8_t>;

inline void append_text(Payload& out, std::string_view text) {
  append_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

// Borrows the payload. All functions throw Error if the payload ends too early.
class PayloadReader {
 public:
  explicit PayloadReader(Bytes payload) : at_(payload.data()), end_(payload.data() + payload.size()) {}
  bool empty() const { return at_ == end_; }
  std::uint64_t remaining() const { return static_cast<std::uint64_t>(end_ - at_); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    if (!read_varint(at_, end_, value)) throw Error("A chunk ends too early");
    return value;
  }
  std::uint8_t byte() {
    if (empty()) throw Error("A chunk ends too early");
    return *at_++;
  }
  std::string_view text() {
    const std::uint64_t size = varint();
    if (size > remaining()) throw Error("A chunk's text ends too early");
    const std::string_view text(reinterpret_cast<const char*>(at_), to_size(size));
    at_ += size;
    return text;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

}  // namespace kmt::kmt_format
