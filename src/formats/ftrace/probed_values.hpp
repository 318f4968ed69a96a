// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the values that kmemtrace's kprobe events record at the entry of a function: docs/formats/kmt.md, "Types of
// calls".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "formats/ftrace/event_format.hpp"

namespace kmt {

// Position in a record of a value that the probe read from memory or a register.
struct ProbedValue {
  std::uint8_t number = 0;  // number of the value among the recorded values of the function
  std::uint16_t offset = 0;
  std::uint8_t size = 0;  // size in bytes; for a string, the size of its __data_loc
  bool is_string = false;
  std::uint32_t most = 0;       // maximum length of the string in bytes; 0 if unlimited
  std::uint8_t counted_by = 0;  // number of the argument that limits the length, starting at 1; 0 if none
  bool counted_by_int = false;  // true if only the low 32 bits of that argument are the length
  // Offset in bytes of a __data_loc that is empty if the memory was unreadable, and not empty if it was readable. 0 if
  // there is no such field.
  std::uint16_t readable_at = 0;
};

// Finds the fields arg1, arg2, …, which must be adjacent. Returns their number and sets `at` to the offset of arg1.
std::uint32_t probed_arguments(const EventFormat& format, unsigned word_bytes, std::uint32_t& at);
// Finds the fields v0, v1, …, some of which may be missing. Raises `least_bytes` to the size of a record that has all
// fields found.
std::vector<ProbedValue> probed_values(const EventFormat& format, std::uint32_t& least_bytes);

// The values of one call, by number. Several records may contribute values. A value is empty if the kernel could not
// read it.
using ReadValues = std::map<std::uint8_t, std::optional<std::vector<std::uint8_t>>>;
// Adds the values of a record, which must have at least as many bytes as probed_values() has returned. `arguments` are
// the arguments of the call.
void read_values(const std::vector<ProbedValue>& values, Bytes record, ByteOrder order,
                 std::span<const std::uint64_t> arguments, ReadValues& to);
// Encodes the values in the format of call_entry's field `values`. Instead of a size, a value that could not be read
// has kValueNotRead, and a value that is in no record has kValueLeftOut.
std::vector<std::uint8_t> joined(const ReadValues& values, ByteOrder order);

}  // namespace kmt
