// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the times of a block. The encoder is in encoder.hpp.
#pragma once

#include <cstdint>

#include "base/endian.hpp"
#include "formats/kmt/times/code.hpp"
#include "formats/kmt/times/column.hpp"

namespace kmt::kmt_format {

class TimeDecoder {
 public:
  TimeDecoder() = default;
  // `step` is the length of a step of the clock in 1/2^32 ticks; 0 if the times are varints of ticks.
  TimeDecoder(std::uint64_t first_ticks, std::uint64_t step, Column codes, Column low_bits)
      : ticks_(first_ticks), step_(step), codes_(codes), low_bits_(low_bits) {}

  // Returns the time of the next event in ticks. Throws Error if a column is damaged.
  std::uint64_t next() {
    if (step_ == 0) return ticks_ += codes_.varint();
    const std::uint8_t code = codes_.byte();
    if (code >= kTickLater) [[unlikely]]
      return next_adjusted(code);
    advance(number(code));
    return ticks_;
  }

 private:
  void advance(std::uint64_t steps) {
    const std::uint64_t sum = fraction_ + steps * step_;
    ticks_ += sum >> kPointBits;
    fraction_ = sum & kFractionMask;
  }

  std::uint64_t next_adjusted(std::uint8_t adjustment) {
    const std::uint8_t code = codes_.byte();
    if (code >= kTickLater) throw Error("A time in a block has an unknown code");
    const std::uint64_t count = number(code);
    if (adjustment == kTickLater || adjustment == kTickEarlier) {
      const bool later = adjustment == kTickLater;
      advance(count);
      ticks_ += later ? 1 : ~std::uint64_t{0};
      fraction_ = later ? 0 : kFractionMask;
    } else if (adjustment == kInTicks) {
      ticks_ += count;
      fraction_ = kHalfTick;
    } else {
      throw Error("A time in a block has an unknown code");
    }
    return ticks_;
  }

  std::uint64_t number(std::uint8_t code) {
    if (code < kShortNumbers) return code;
    const unsigned count = (code >> kCodeBits) - 1u;
    const std::uint64_t top = (code & ((1u << kCodeBits) - 1)) | 1u << kCodeBits;
    return top << count | low_bits(count);
  }

  // Takes the next `count` bits, at most 61.
  std::uint64_t low_bits(unsigned count) {
    // A word holds at least 57 bits from the current position on.
    if (low_bits_.end - low_bits_.at < 8 || count > 57) [[unlikely]]
      return last_low_bits(count);
    const std::uint64_t word = load<std::uint64_t>(low_bits_.at, ByteOrder::little) >> used_bits_;
    used_bits_ += count;
    low_bits_.at += used_bits_ / 8;
    used_bits_ %= 8;
    return word & ((std::uint64_t{1} << count) - 1);
  }

  std::uint64_t last_low_bits(unsigned count) {
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (low_bits_.empty()) Column::throw_cut_off();
      bits |= std::uint64_t{*low_bits_.at >> used_bits_ & 1u} << i;
      if (++used_bits_ == 8) {
        used_bits_ = 0;
        ++low_bits_.at;
      }
    }
    return bits;
  }

  std::uint64_t ticks_ = 0;
  std::uint64_t step_ = 0;
  std::uint64_t fraction_ = kHalfTick;  // the clock's position after ticks_, in 1/2^32 ticks
  Column codes_;
  Column low_bits_;
  unsigned used_bits_ = 0;  // bits of the byte at low_bits_.at that were taken
};

}  // namespace kmt::kmt_format
