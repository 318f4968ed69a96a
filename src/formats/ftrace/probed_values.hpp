// SPDX-License-Identifier: GPL-2.0-or-later
// Values that kmemtrace's kprobe events record at the entry of a function: docs/formats/kmt.md, "Types of calls".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"

namespace kmt {

// A value read from memory or a register: its place in a record.
struct ProbedValue {
  std::uint8_t number = 0;  // among the values of its function
  std::uint16_t offset = 0;
  std::uint8_t size = 0;  // for a string, of its __data_loc
  bool is_string = false;
  std::uint32_t most = 0;         // limit of a string's own bytes; 0: none
  std::uint8_t counted_by = 0;    // number of the argument that has the limit, from 1; 0: none
  bool counted_by_int = false;    // only that argument's low 32 bits count
  std::uint16_t readable_at = 0;  // offset of a __data_loc that is empty if memory was unreadable; 0: none
};

// Finds the consecutive fields arg1, arg2, …: how many there are, and the first one's offset.
std::uint32_t probed_arguments(const EventFormat& format, unsigned word_bytes, std::uint32_t& at);
// Finds the fields v0, v1, …, which may have gaps. `least_bytes` grows to cover them.
std::vector<ProbedValue> probed_values(const EventFormat& format, std::uint32_t& least_bytes);

// The values of a call by number, from one or more records; empty values could not be read.
using ReadValues = std::map<std::uint8_t, std::optional<std::vector<std::uint8_t>>>;
// Adds the values of a record, which has the least bytes. `arguments` belong to the call.
void read_values(const std::vector<ProbedValue>& values, Bytes record, ByteOrder order,
                 std::span<const std::uint64_t> arguments, ReadValues& to);
// Joins values in the form of call_entry's field `values`, with kValueLeftOut for missing ones.
std::vector<std::uint8_t> joined(const ReadValues& values, ByteOrder order);

}  // namespace kmt
