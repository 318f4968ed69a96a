// SPDX-License-Identifier: GPL-2.0-or-later
// Conditions on the arguments and results of calls: `flags&WRITE`, `path=="/etc/passwd"`, `ret<0`.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "trace/calls/signature.hpp"

namespace kmt {

struct CallCondition {
  enum class Operator : std::uint8_t { equal, different, less, less_or_equal, greater, greater_or_equal, has_bits };

  std::string name;  // name as typed: an argument, another recorded value, or "ret" for the result
  Operator compare = Operator::equal;
  std::string text;     // text without its quotes; escape sequences are not decoded
  bool quoted = false;  // the value was quoted, so it is a string
  // The text as a 64-bit number; true, false, NULL and names such as -ENOENT are converted too.
  std::optional<std::uint64_t> bits;
  bool is_negative = false;

  bool of_result() const { return name == "ret"; }
};

// Throws Error if the text is not a condition.
CallCondition parse_call_condition(const std::string& text);

// Converts a condition to the type of a value. Names of flags and enumeration values become numbers. `gfp_flags` is
// nullptr if the GFP flags are not known yet; any flag name is then accepted. Throws Error if no value of the type can
// meet the condition.
CallCondition condition_for(const CallCondition& condition, const ValueType& type,
                            const std::vector<FlagName>* gfp_flags);

// Compares strings byte by byte and numbers according to the value's sign. An error result counts as a negative number.
// No condition holds for a value that was not recorded.
bool holds(const CallCondition& condition, const CallValue& value);

// Conditions on calls of functions whose arguments have different types. A selected call meets all conditions.
class CallConditions {
 public:
  // `gfp_flags` has the same meaning as in condition_for(); the object keeps the pointer.
  CallConditions(std::vector<CallCondition> all, const std::vector<FlagName>* gfp_flags);

  // Adds a function. The caller chooses a small number for it. `signature` is null if the types of the function's
  // arguments are unknown.
  void add(std::uint32_t function, const std::string& name, const CallSignature* signature);
  bool knows(std::uint32_t function) const { return function < functions_.size() && functions_[function]; }
  // True if a call of a known function meets the conditions on its arguments, or on its result.
  bool hold(std::uint32_t function, const CallValues& arguments) const;
  bool hold(std::uint32_t function, const CallValue& result) const;
  bool any_of_arguments() const;
  bool any_of_results() const;
  // True if a condition compares the text of an argument of a known function. The recorder must then read this text
  // from the memory of the traced machine.
  bool compare_text() const { return compare_text_; }
  // Throws Error if no known function can meet a condition. Does nothing if no function is known.
  void check() const;

 private:
  struct Function {
    std::vector<CallCondition> conditions;
    bool arguments_can_hold = true;
    bool result_can_hold = true;
  };

  std::vector<CallCondition> all_;
  const std::vector<FlagName>* gfp_flags_;
  bool compare_text_ = false;
  std::vector<std::optional<Function>> functions_;  // index: function number; empty if the function is unknown
  // The members below are only used in error messages.
  std::vector<bool> can_hold_;  // index: condition; true if some function can meet it
  // Index: condition; reason why the first function with this argument cannot meet it.
  std::vector<std::optional<Error>> why_;
  std::size_t known_ = 0;
  std::vector<std::string> signatures_;  // signatures of the first few functions: "vfs_read(file, buf, count, pos)"
  std::set<std::string> names_;          // names of arguments and other recorded values
};

}  // namespace kmt
