// SPDX-License-Identifier: GPL-2.0-or-later
// What kprobe events of kmemtrace's record when a function is entered: docs/formats/kmt.md, "Types of calls".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"

namespace kmt {

// A value that was read from memory, or from a register: where it is in a record.
struct ProbedValue {
  std::uint8_t number = 0;  // among those of its function
  std::uint16_t offset = 0;
  std::uint8_t size = 0;  // of a string that of its __data_loc
  bool is_string = false;
  std::uint32_t most = 0;         // bytes of a string, more of what was read are not its own; 0: any
  std::uint8_t counted_by = 0;    // likewise as many as this argument says, from 1 on; 0: none does
  bool counted_by_int = false;    // as many as its low 32 bits say
  std::uint16_t readable_at = 0;  // a __data_loc that is empty where memory could not be read; 0: there is none
};

// The fields arg1, arg2, …, one behind the other: how many there are, and where the first one is.
std::uint32_t probed_arguments(const EventFormat& format, unsigned word_bytes, std::uint32_t& at);
// The fields v0, v1, …, not all of which need be there. `least_bytes` grows to what a record has at least.
std::vector<ProbedValue> probed_values(const EventFormat& format, std::uint32_t& least_bytes);

// The values of a call by their numbers, from one or more records; empty where they could not be read.
using ReadValues = std::map<std::uint8_t, std::optional<std::vector<std::uint8_t>>>;
// Adds those of a record, which has the least bytes. `arguments` are those of the call.
void read_values(const std::vector<ProbedValue>& values, Bytes record, ByteOrder order,
                 std::span<const std::uint64_t> arguments, ReadValues& to);
// In the form of the field `values` of call_entry, with kValueLeftOut where one is missing.
std::vector<std::uint8_t> joined(const ReadValues& values, ByteOrder order);

}  // namespace kmt
