// SPDX-License-Identifier: GPL-2.0-or-later
// Converts 64-bit numbers to sizes in memory, which have only 32 bits on some machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kmt {

[[noreturn]] void throw_too_large(std::uint64_t size);

// Returns the same number. Throws Error if it does not fit.
template <typename Size = std::size_t>
constexpr Size to_size(std::uint64_t number) {
  if constexpr (sizeof(Size) < sizeof number)
    if (number > std::numeric_limits<Size>::max()) throw_too_large(number);
  return static_cast<Size>(number);
}

}  // namespace kmt
