// SPDX-License-Identifier: GPL-2.0-or-later
// Hashes bytes to a key for FlatMap. Equal bytes have different hashes in different runs.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "base/endian.hpp"
#include "base/flat_map.hpp"

namespace kmt {

inline std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = kHashSeed ^ text.size();
  for (; text.size() >= 8; text.remove_prefix(8))
    hash = std::rotl((hash ^ load<std::uint64_t>(text.data(), kHostOrder)) * 0x9E3779B97F4A7C15ull, 29);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace kmt
