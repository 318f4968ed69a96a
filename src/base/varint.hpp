// SPDX-License-Identifier: GPL-2.0-or-later
// Encodes integers in a variable number of bytes (LEB128). Each byte has seven bits, low bits first, and its top bit
// means that more bytes follow. Signed integers are encoded with zigzag, so that small negative numbers stay short.
#pragma once

#include <cstdint>
#include <vector>

namespace kmt {

inline void append_varint(std::vector<std::uint8_t>& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

// Reads a varint and moves `at` to the first byte after it. Returns false if the varint reaches `end` or is longer than
// 64 bits; `at` is then undefined.
inline bool read_varint(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
  if (at != end && *at < 0x80) {  // a single byte, by far the most frequent case
    value = *at++;
    return true;
  }
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end) return false;
    const std::uint64_t byte = *at++;
    if (shift == 63 && byte > 1) return false;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

constexpr std::uint64_t zigzag(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

}  // namespace kmt
