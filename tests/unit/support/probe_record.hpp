// SPDX-License-Identifier: GPL-2.0-or-later
// Builds records of the kprobe events that `kmemtrace record` creates for untraced paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/byte_builder.hpp"

namespace kmt::test {

// Returns the bytes of a record by task 77. `words` are the values of its fields. `name`, which may be null, is the
// text of a last field __data_loc.
inline std::vector<std::uint8_t> probe_record(const Machine& machine, std::uint16_t id,
                                              const std::vector<std::uint64_t>& words, const std::string* name) {
  ByteBuilder bytes(machine);
  bytes.u16(id).u8(0).u8(0).u32(77);
  for (const std::uint64_t word : words) bytes.word(word);
  if (name == nullptr) return bytes.get();
  const auto at = static_cast<std::uint32_t>(bytes.get().size() + 4);
  bytes.u32(static_cast<std::uint32_t>(name->size() + 1) << 16 | at);
  for (const char c : *name) bytes.u8(static_cast<std::uint8_t>(c));
  bytes.u8(0);
  return bytes.get();
}

}  // namespace kmt::test
