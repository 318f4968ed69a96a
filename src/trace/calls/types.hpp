// SPDX-License-Identifier: GPL-2.0-or-later
// The types of recorded calls as they travel in a trace: docs/formats/kmt.md, "Types of calls".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kmt {

// One of what was read from memory when a function was entered.
struct RecordedValue {
  std::string text;            // as the user wrote it; of an argument that is a string its name
  bool is_string = false;      // else `type`
  std::uint32_t type = 0;      // id in the BTF
  std::uint8_t bit_shift = 0;  // of a bit field: its lowest bit in what was read as an integer
  std::uint8_t bits = 0;       // and its width; 0: it is none
};

struct RecordedFunction {
  std::string name;
  std::vector<RecordedValue> values;  // in the order of the record's field `values`
};

struct CallTypes {
  std::vector<std::uint8_t> btf;            // as in a section .BTF, of either byte order; empty: the trace has none
  std::vector<RecordedFunction> functions;  // with recorded values

  bool empty() const { return btf.empty() && functions.empty(); }
};

}  // namespace kmt
