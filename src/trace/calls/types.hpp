// SPDX-License-Identifier: GPL-2.0-or-later
// The types of recorded calls, as they are stored in a trace. See docs/formats/kmt.md, "Types of calls".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// A value that was read from memory when a function was entered.
struct RecordedValue {
  // The value as the user typed it in an option. For string arguments, the name of the argument.
  std::string text;
  bool is_string = false;      // true: a string; false: a value whose type is `type`
  std::uint32_t type = 0;      // BTF type ID
  std::uint8_t bit_shift = 0;  // for bit fields: lowest bit of the field in the integer that was read
  std::uint8_t bits = 0;       // for bit fields: number of bits; 0: not a bit field
};

struct RecordedFunction {
  std::string name;
  std::vector<RecordedValue> values;  // values in the order of the event's field `values`
};

struct CallTypes {
  // Content of the kernel's .BTF section, in either byte order; empty if the trace does not contain the section.
  std::vector<std::uint8_t> btf;
  std::vector<RecordedFunction> functions;  // functions for which values are recorded

  bool empty() const { return btf.empty() && functions.empty(); }
};

}  // namespace kmt
