// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the fields of a record in the kernel's layout.
#pragma once

#include <cstdint>

#include "base/endian.hpp"
#include "capture/bpf/programs/records.h"

namespace kmt {

inline void write_field(std::uint8_t* to, std::uint64_t value, std::uint16_t bytes) {
  switch (bytes) {
    case 1: *to = static_cast<std::uint8_t>(value); break;
    case 2: store(to, static_cast<std::uint16_t>(value), kHostOrder); break;
    case 4: store(to, static_cast<std::uint32_t>(value), kHostOrder); break;
    default: store(to, value, kHostOrder);
  }
}

// Writes the first 8 bytes, which all records have in common.
inline void write_common_fields(std::uint8_t* to, std::uint16_t id, const kmt_entry& entry) {
  write_field(to, id, 2);
  to[2] = entry.flags;
  to[3] = 0;  // common_preempt_count, which is unknown to BPF programs
  write_field(to + 4, static_cast<std::uint32_t>(entry.task), 4);
}

}  // namespace kmt
