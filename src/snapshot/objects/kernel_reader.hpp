// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the memory of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/endian.hpp"
#include "trace/state/slab_layout.hpp"

namespace kmt {

class KernelReader {
 public:
  virtual ~KernelReader() = default;
  // Fills all of `bytes`. Returns false if some of them cannot be read.
  virtual bool read(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
};

inline std::optional<std::uint64_t> read_word(KernelReader& memory, std::uint64_t address) {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  if (!memory.read(address, bytes)) return std::nullopt;
  return load<std::uint64_t>(bytes.data(), kHostOrder);
}

// Returns the value of a member. `structure` has the bytes of the structure, and `place` must be from the types of the
// same kernel. Empty if the bytes do not contain the member.
inline std::optional<std::uint64_t> member_in(std::span<const std::uint8_t> structure, const MemberPlace& place) {
  if (place.size == 0 || place.size > sizeof(std::uint64_t) || place.offset > structure.size() ||
      structure.size() - place.offset < place.size)
    return std::nullopt;
  const std::uint64_t value = load_sized(structure.data() + place.offset, place.size, kHostOrder);
  if (place.bits == 0) return value;
  if (place.bits >= 64 || place.bit + place.bits > 8 * place.size) return std::nullopt;
  return value >> place.bit & ((std::uint64_t{1} << place.bits) - 1);
}

}  // namespace kmt
