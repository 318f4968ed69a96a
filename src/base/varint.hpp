// SPDX-License-Identifier: GPL-2.0-or-later
// Integers in as few bytes as they need: LEB128 (seven bits a byte, low ones first, the top bit says that more follow),
// signed ones folded by zigzag so that small negative numbers stay small.
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

// Advances `at` over a varint before `end`; false, leaving `at` anywhere, when it is cut off or longer than 64 bits.
inline bool read_varint(const std::uint8_t*& at, const std::uint8_t* end, std::uint64_t& value) {
  if (at != end && *at < 0x80) {  // by far the most
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
