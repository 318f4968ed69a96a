// SPDX-License-Identifier: GPL-2.0-or-later
// Conditions on the arguments of calls: `flags>=0x200`, `path=="/etc/passwd"`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/call_signature.hpp"

namespace kmt {

struct CallCondition {
  enum class Operator : std::uint8_t { equal, different, less, less_or_equal, greater, greater_or_equal };

  std::string name;  // of an argument, or of what else was recorded, as it was written
  Operator compare = Operator::equal;
  std::string text;                   // without quotes
  bool quoted = false;                // a string, whatever it looks like
  std::optional<std::uint64_t> bits;  // the number that the text is, as of 64 bits; true, false and NULL are numbers
  bool is_negative = false;
};

// Throws Error.
CallCondition parse_call_condition(const std::string& text);

// Numbers are compared by the argument's sign, strings byte by byte, enumerations by name or number. Nothing is known
// of a value that was not recorded: then no condition holds.
bool holds(const CallCondition& condition, const CallValues& values);

}  // namespace kmt
