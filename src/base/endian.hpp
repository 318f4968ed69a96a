// SPDX-License-Identifier: GPL-2.0-or-later
// Loads unaligned integers in the given byte order. The caller must check the bounds.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kmt {

enum class ByteOrder : std::uint8_t { little, big };

constexpr ByteOrder kHostOrder = std::endian::native == std::endian::big ? ByteOrder::big : ByteOrder::little;

template <typename T>
constexpr T swap_bytes(T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  return value;
}

template <typename T>
T load(const void* at, ByteOrder order) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return order == kHostOrder ? value : swap_bytes(value);
}

template <typename T>
void store(void* at, T value, ByteOrder order) {
  if (order != kHostOrder) value = swap_bytes(value);
  std::memcpy(at, &value, sizeof value);
}

// Loads an unsigned integer of 1, 2, 4 or 8 bytes, zero-extended.
inline std::uint64_t load_sized(const void* at, unsigned size, ByteOrder order) {
  switch (size) {
    case 8: return load<std::uint64_t>(at, order);
    case 4: return load<std::uint32_t>(at, order);
    case 2: return load<std::uint16_t>(at, order);
    default: return load<std::uint8_t>(at, order);
  }
}

}  // namespace kmt
