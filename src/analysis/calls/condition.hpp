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

  std::string name;  // of an argument, or of what else was recorded, as it was written; "ret": the result
  Operator compare = Operator::equal;
  std::string text;     // without quotes, and what is escaped in them as it is
  bool quoted = false;  // a string, whatever it looks like
  std::optional<std::uint64_t>
      bits;  // the number that the text is, as of 64 bits; true, false, NULL and -ENOENT are ones
  bool is_negative = false;

  bool of_result() const { return name == "ret"; }
};

// Throws Error.
CallCondition parse_call_condition(const std::string& text);

// The same for values of a type: names of its flags and values become numbers. `gfp_flags`: nullptr where they are not
// known yet, then any name may be one. Throws Error where no value of the type can be so.
CallCondition condition_for(const CallCondition& condition, const ValueType& type,
                            const std::vector<FlagName>* gfp_flags);

// Compares numbers by the value's sign, an error result as a negative number, strings byte by byte. No condition holds
// for a value that was not recorded.
bool holds(const CallCondition& condition, const CallValue& value);

// Several conditions, all of which have to hold, for functions that each have their own types.
class CallConditions {
 public:
  // `gfp_flags` as above, borrowed.
  CallConditions(std::vector<CallCondition> all, const std::vector<FlagName>* gfp_flags);

  // Makes a function known, by any small number; null: its types are not.
  void add(std::uint32_t function, const std::string& name, const CallSignature* signature);
  bool knows(std::uint32_t function) const { return function < functions_.size() && functions_[function]; }
  // Whether those of arguments, or of the result, hold for a call of a known function.
  bool hold(std::uint32_t function, const CallValues& arguments) const;
  bool hold(std::uint32_t function, const CallValue& result) const;
  bool any_of_arguments() const;
  bool any_of_results() const;
  // Whether any is about the text of a known function's argument, which has to be read from memory.
  bool compare_text() const { return compare_text_; }
  // Throws Error where there are known functions, and a condition can hold for none of them.
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
  std::vector<std::optional<Function>> functions_;  // by number; empty: not known
  // For messages.
  std::vector<bool> can_hold_;             // by condition: for any function
  std::vector<std::optional<Error>> why_;  // by condition: why not, for the first function that has the value
  std::size_t known_ = 0;
  std::vector<std::string> signatures_;  // "vfs_read(file, buf, count, pos)", the first ones
  std::set<std::string> names_;          // of arguments and what else was recorded
};

}  // namespace kmt
