// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the arguments, result and other recorded values of a call from the recorded registers and bytes, and the
// function's prototype. The format is similar to ftrace's funcgraph-args (print_function_args() in
// kernel/trace/trace_output.c, Linux 6.18). Unlike ftrace, values of type bool, enumerations and strings are shown as
// such, and NULL has a name. Narrow values are cut to their width. Sizes are decimal, and so are unsigned numbers that
// are neither flags nor as wide as addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "trace/gfp_flags.hpp"

namespace kmt {

enum class ValueKind : std::uint8_t {
  nothing,  // void
  unknown,  // no value: not in a register, or not read
  integer,
  boolean,
  enumeration,
  pointer,
  string,
  structure,  // passed by value in registers
};

// Sign-extended values and their names, in order of declaration. The names are borrowed from the source of the
// signature.
using Enumerators = std::vector<std::pair<std::uint64_t, std::string_view>>;

// Names of bits in a number.
struct NamedFlags {
  std::vector<FlagName> names;    // in display order; each name covers its bits
  std::uint64_t number_mask = 0;  // these bits form a number, whose values have names; the value 0 has one too
  std::string zero;
  std::string prefix;        // common prefix that is missing in the names: "FAULT_FLAG_"
  std::uint64_t errors = 0;  // for results: bits that mark an error
};

struct StructureMember;

struct ValueType {
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_size = false;                            // declared as size_t
  bool is_hex = false;                             // shown in hex: flags, and numbers that may be addresses
  bool is_gfp = false;                             // declared as gfp_t
  bool is_long = false;                            // declared as unsigned long; may be an error (IS_ERR_VALUE())
  bool is_octal = false;                           // file mode
  std::uint32_t bytes = 0;                         // 0 for strings
  std::shared_ptr<const Enumerators> enumerators;  // for enumerations, and integers with named values
  std::shared_ptr<const NamedFlags> flags;         // for integers and enumerations that are bit sets
  // For structures that may be in registers; null: unknown.
  std::shared_ptr<const std::vector<StructureMember>> members;
};

// A member of a structure. Members of unnamed nested structures count as members of the outer structure.
struct StructureMember {
  std::string name;            // "kernel", "val.uid"
  ValueType type;              // size is 1, 2, 4 or 8 bytes
  std::uint32_t offset = 0;    // byte offset of the integer that contains the member
  std::uint8_t bit_shift = 0;  // as in RecordedValue
  std::uint8_t bits = 0;
};

struct Parameter {
  std::string name;  // empty if the parameter has no name
  ValueType type;
};

struct RecordedValueType {
  std::string text;  // as in RecordedValue
  ValueType type;
  std::uint8_t bit_shift = 0;  // as in RecordedValue
  std::uint8_t bits = 0;
};

struct CallSignature {
  std::vector<Parameter> parameters;
  bool more = false;  // variadic
  ValueType result;
  std::vector<RecordedValueType> recorded;
};

// Provides function signatures to analyses.
class CallSignatures {
 public:
  virtual ~CallSignatures() = default;
  // Returns the signature of a function; the name is without module. Empty if its types are unknown.
  virtual std::optional<CallSignature> signature(const std::string& function) const = 0;
};

struct CallValue {
  std::string name;  // empty for results and unnamed arguments
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_hex = false;
  bool is_octal = false;
  bool is_long = false;        // the type's is_long
  bool is_late = false;        // read at the return of the call because it could not be read at the start
  bool is_cut = false;         // the string has the maximum recorded length, so it may be longer
  bool is_unreadable = false;  // memory was unreadable: a string is shown as a pointer, other values are unknown
  // The value did not fit into the call's record, or the argument was not recorded.
  bool is_left_out = false;
  bool is_on_stack = false;  // the argument is on the stack, so it was not recorded
  bool is_failure = false;   // result with flags that mark an error
  std::uint64_t bits = 0;    // integers, booleans, enumerations and pointers: sign-extended to 64 bits
  std::string text;          // a string, the name of a value, or the text of a structure
  std::string flags;         // integers and enumerations: names of their bits
};

struct CallValues {
  std::vector<CallValue> values;
  std::size_t arguments = 0;  // number of arguments; they are the first values, before other recorded values
  bool more = false;          // some arguments have no name: either all, or the variable ones
};

constexpr unsigned kArgumentRegisters = 6;  // number of recorded registers

// Properties of the machine that determine the registers of arguments.
struct CallAbi {
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;
  std::string arch;  // as in uname -m; "x86_64", "aarch64" and "s390x" have separate rules for structures
  const std::vector<FlagName>* gfp_flags = nullptr;  // names of GFP flags; borrowed; nullptr: unknown
};

// Returns the values of a call. Arguments are from `registers`. Strings and other recorded values are from `recorded`:
// each has a length (u16) and its bytes, or a reason why it is missing (see value_path.hpp). Recorded values follow the
// arguments. The bytes may be damaged.
CallValues call_values(const CallSignature& signature, const CallAbi& abi, std::span<const std::uint64_t> registers,
                       Bytes recorded);
// Adds values that were read at the return of the call. `late` contains for each value its index among the recorded
// values (u16), its size (u16) and its bytes. The bytes may be damaged.
void add_late_values(CallValues& values, const CallSignature& signature, const CallAbi& abi, Bytes late);
// Returns the first register of an argument, if it is among the recorded registers. Not for structures. Empty if there
// is none.
std::optional<unsigned> register_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);
// Returns the result of a call. Empty if the function returns nothing or its type is unknown.
std::optional<CallValue> result_value(const ValueType& type, const CallAbi& abi, std::uint64_t value);

constexpr std::int64_t kMostErrno = 4095;  // MAX_ERRNO, include/linux/err.h
// Returns -22 for a value that is the error -22; empty if it is no error. Signed integers may be errors, and pointers
// made by ERR_PTR(), and the last 4095 values of unsigned long (IS_ERR_VALUE).
std::optional<int> error_of(const CallValue& value);
// Returns "EINVAL" for -22; empty if there is no such error.
std::string error_name(int error);
// Returns -22 for "EINVAL"; empty if there is no such name.
std::optional<int> error_number(std::string_view name);

// Returns a value as text that is safe to print: "-22 (EINVAL)", "0x255", "true", "\"etc\"", or "\"et\"…" for a string
// that was cut. Error names are only shown if `as_result` is true.
std::string value_text(const CallValue& value, bool as_result);
// Returns the raw name and the text of each value. Values reached through a NULL pointer are left out.
using NamedText = std::pair<std::string, std::string>;
std::vector<NamedText> value_texts(const CallValues& values);
// Returns all values as one text: "fd=3, count=4096, uf=(on the stack, not recorded)". "..." stands for variable
// arguments. Safe to print.
std::string values_text(const CallValues& values);

}  // namespace kmt
