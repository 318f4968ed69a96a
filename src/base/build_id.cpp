// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/build_id.hpp"

#include <elf.h>

#include <algorithm>

#include <fmt/format.h>

namespace kmt {

namespace {

constexpr std::size_t kMostBytes = 64;  // in bytes; most build IDs are SHA-1 hashes, which have 20 bytes

constexpr std::uint64_t padded(std::uint32_t size) { return (std::uint64_t{size} + 3) & ~std::uint64_t{3}; }

}  // namespace

std::string gnu_build_id(Bytes notes, ByteOrder order) {
  ByteReader reader(notes, order);
  while (reader.remaining() >= 12) {
    const std::uint32_t name_size = reader.u32();
    const std::uint32_t size = reader.u32();
    const std::uint32_t type = reader.u32();
    if (padded(name_size) > reader.remaining()) return {};
    const std::string_view name = reader.text(padded(name_size)).substr(0, name_size);
    if (size > reader.remaining()) return {};
    if (type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4) && size > 0 && size <= kMostBytes) {
      std::string id;
      for (const std::uint8_t byte : reader.bytes(size)) id += fmt::format("{:02x}", byte);
      return id;
    }
    reader.skip(std::min(padded(size), reader.remaining()));
  }
  return {};
}

bool is_build_id(std::string_view text) {
  return !text.empty() && text.size() % 2 == 0 && text.size() <= 2 * kMostBytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace kmt
