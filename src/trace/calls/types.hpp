// SPDX-License-Identifier: GPL-2.0-or-later
// The types of recorded calls as stored in a trace. See docs/formats/kmt.md, "Types of calls".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// A value that was read from memory when a function was entered.
struct RecordedValue {
  std::string text;            // as typed by the user; the argument's name for string arguments
  bool is_string = false;      // false: the value has the type `type`
  std::uint32_t type = 0;      // BTF type ID
  std::uint8_t bit_shift = 0;  // for bit fields: lowest bit in the integer that was read
  std::uint8_t bits = 0;       // for bit fields: width; 0: not a bit field
};

struct RecordedFunction {
  std::string name;
  std::vector<RecordedValue> values;  // in the order of the record's field `values`
};

struct CallTypes {
  // Content of a .BTF section, in either byte order; empty if the trace has none.
  std::vector<std::uint8_t> btf;
  std::vector<RecordedFunction> functions;  // functions with recorded values

  bool empty() const { return btf.empty() && functions.empty(); }
};

}  // namespace kmt
