// SPDX-License-Identifier: GPL-2.0-or-later
// Constants of the columns with times: docs/formats/kmt.md, "Times".
//
// A number is split into a code and low bits. The code gives the position of the top bit and the two bits after it.
// Codes of similar events repeat, so zstd compresses them well. The low bits are random and cannot be compressed.
#pragma once

#include <cstdint>

namespace kmt::kmt_format {

constexpr unsigned kCodeBits = 2;                         // bits of a number after its top bit that belong to its code
constexpr std::uint64_t kShortNumbers = 2u << kCodeBits;  // smaller numbers are their own codes and have no low bits

// Codes above those of numbers. The code of a number follows.
constexpr std::uint8_t kTickLater = 252;    // the time is one tick later than the sum of steps
constexpr std::uint8_t kTickEarlier = 253;  // the time is one tick earlier than the sum of steps
constexpr std::uint8_t kInTicks = 254;      // the number counts ticks, not steps

// Steps and positions are fixed-point numbers with 32 fractional bits.
constexpr unsigned kPointBits = 32;
constexpr std::uint64_t kOneTick = std::uint64_t{1} << kPointBits;
constexpr std::uint64_t kHalfTick = kOneTick / 2;
constexpr std::uint64_t kFractionMask = kOneTick - 1;

}  // namespace kmt::kmt_format
