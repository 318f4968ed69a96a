// SPDX-License-Identifier: GPL-2.0-or-later
// Unsigned integers of 128 bits.
#pragma once

#include <cstdint>

namespace kmt {

// Replaces unsigned __int128, which compilers have only for 64-bit machines.
class TwoWords {
 public:
  constexpr TwoWords(std::uint64_t low = 0) : low_(low) {}
  explicit constexpr operator std::uint64_t() const { return low_; }

  constexpr TwoWords& operator+=(TwoWords other) {
    low_ += other.low_;
    high_ += other.high_ + (low_ < other.low_ ? 1 : 0);
    return *this;
  }
  friend constexpr TwoWords operator<<(TwoWords value, unsigned bits) {
    return bits == 0   ? value
           : bits < 64 ? TwoWords(value.high_ << bits | value.low_ >> (64 - bits), value.low_ << bits)
                       : TwoWords(value.low_ << (bits - 64), 0);
  }
  friend constexpr TwoWords operator>>(TwoWords value, unsigned bits) {
    return bits == 0   ? value
           : bits < 64 ? TwoWords(value.high_ >> bits, value.high_ << (64 - bits) | value.low_ >> bits)
                       : TwoWords(0, value.high_ >> (bits - 64));
  }
  friend constexpr TwoWords operator*(TwoWords value, std::uint64_t factor) {
    constexpr std::uint64_t kLowHalf = 0xffffffff;
    const std::uint64_t a = value.low_ & kLowHalf, b = value.low_ >> 32, c = factor & kLowHalf, d = factor >> 32;
    const std::uint64_t lowest = a * c;
    const std::uint64_t first = b * c + (lowest >> 32);
    const std::uint64_t second = a * d + (first & kLowHalf);
    return {b * d + (first >> 32) + (second >> 32) + value.high_ * factor, second << 32 | (lowest & kLowHalf)};
  }
  friend constexpr TwoWords operator/(TwoWords value, std::uint64_t divisor) {
    TwoWords quotient;
    std::uint64_t rest = 0;
    for (int bit = 0; bit < 128; ++bit) {
      const bool overflows = rest >> 63 != 0;
      rest = rest << 1 | value.high_ >> 63;
      value = value << 1;
      quotient = quotient << 1;
      if (!overflows && rest < divisor) continue;
      rest -= divisor;
      quotient.low_ |= 1;
    }
    return quotient;
  }

 private:
  constexpr TwoWords(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

#if defined(__SIZEOF_INT128__)
__extension__ using Wide = unsigned __int128;
#else
using Wide = TwoWords;
#endif

}  // namespace kmt
