// SPDX-License-Identifier: GPL-2.0-or-later
// Computes the arguments, the result and other recorded values of a call. The inputs are the recorded registers and
// bytes, and the prototype of the function. The text format is similar to ftrace's funcgraph-args
// (print_function_args() in kernel/trace/trace_output.c, Linux 6.18). Unlike ftrace, kmemtrace shows the names of
// enumeration values, the text of strings, true and false, and NULL by name. Narrow values are cut to their width.
// Sizes are decimal. Unsigned numbers are decimal too, unless they are flags or as wide as an address.
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
  nothing,  // the function returns void
  unknown,  // not known, because the value is not in a register or was not read
  integer,
  boolean,
  enumeration,
  pointer,
  string,
  structure,  // passed by value in registers
};

// Pairs of a value (sign-extended to 64 bits) and its name, in the order of the enumeration's declaration. The names
// are valid as long as the source of the signature exists.
using Enumerators = std::vector<std::pair<std::uint64_t, std::string_view>>;

// Names of bits in a number.
struct NamedFlags {
  std::vector<FlagName> names;  // names of flags with their bits, in the order in which they are shown
  // Mask of those bits that form a number instead of single flags. Each value of the number, including 0, has a name.
  std::uint64_t number_mask = 0;
  std::string zero;
  std::string prefix;        // common prefix of the names, which `names` omits: "FAULT_FLAG_"
  std::uint64_t errors = 0;  // bits that mark a result as a failure; only for results
};

struct StructureMember;

struct ValueType {
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_size = false;                            // declared as size_t
  bool is_hex = false;                             // shown in hex: flags, and numbers that may be addresses
  bool is_gfp = false;                             // declared as gfp_t
  bool is_long = false;                            // declared as unsigned long; may be an error (IS_ERR_VALUE())
  bool is_octal = false;                           // the value is a file mode
  std::uint32_t bytes = 0;                         // size of the value; 0 for strings
  std::shared_ptr<const Enumerators> enumerators;  // for enumerations, and integers with named values
  std::shared_ptr<const NamedFlags> flags;         // names of bits, for integers and enumerations that are bit sets
  // Members of a structure that may be passed in registers; null: unknown.
  std::shared_ptr<const std::vector<StructureMember>> members;
};

// A member of a structure. Members of unnamed nested structures are listed as members of the outer structure.
struct StructureMember {
  std::string name;            // "kernel", "val.uid"
  ValueType type;              // the type's size is 1, 2, 4 or 8 bytes
  std::uint32_t offset = 0;    // offset in the structure, in bytes, of the integer that contains the member
  std::uint8_t bit_shift = 0;  // has the same meaning as in RecordedValue
  std::uint8_t bits = 0;
};

struct Parameter {
  std::string name;  // empty for an unnamed parameter
  ValueType type;
};

struct RecordedValueType {
  std::string text;  // has the same meaning as in RecordedValue
  ValueType type;
  std::uint8_t bit_shift = 0;  // has the same meaning as in RecordedValue
  std::uint8_t bits = 0;
};

struct CallSignature {
  std::vector<Parameter> parameters;
  bool more = false;  // true: the function is variadic
  ValueType result;
  std::vector<RecordedValueType> recorded;
};

// Provides the signatures of functions.
class CallSignatures {
 public:
  virtual ~CallSignatures() = default;
  // Returns the signature of a function; `function` is its name without the module. Empty if the types of the function
  // are unknown.
  virtual std::optional<CallSignature> signature(const std::string& function) const = 0;
};

struct CallValue {
  std::string name;  // empty for results and unnamed arguments
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_hex = false;
  bool is_octal = false;
  bool is_long = false;        // copied from ValueType::is_long
  bool is_late = false;        // true: read when the call returned, because it could not be read at the entry
  bool is_cut = false;         // the string has the maximum recorded length, so it may be longer
  bool is_unreadable = false;  // the memory could not be read: a string is shown as a pointer, other values are unknown
  // The value is missing: it did not fit into the call's record, or the argument was not recorded.
  bool is_left_out = false;
  bool is_on_stack = false;  // the argument is on the stack, and only registers were recorded
  bool is_failure = false;   // the result has flags that mark a failure
  std::uint64_t bits = 0;    // value of integers, booleans, enumerations and pointers, sign-extended to 64 bits
  std::string text;          // a string, the name of a value, or the text of a structure
  std::string flags;         // names of the set bits; only for integers and enumerations
};

struct CallValues {
  std::vector<CallValue> values;
  std::size_t arguments = 0;  // number of arguments at the start of `values`; other recorded values follow them
  // True: `values` does not contain all arguments. Either the function is variadic, or no registers were recorded.
  bool more = false;
};

constexpr unsigned kArgumentRegisters = 6;  // maximum number of argument registers that are recorded

// Properties of the machine that determine in which registers arguments are.
struct CallAbi {
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;
  std::string arch;  // machine name as in uname -m; "x86_64", "aarch64" and "s390x" have special rules for structures
  // Names of GFP flags, which must outlive this object; nullptr: unknown.
  const std::vector<FlagName>* gfp_flags = nullptr;
};

// Returns the values of a call: first the arguments, then other recorded values. Arguments are taken from `registers`.
// Strings and other recorded values are taken from `recorded`. There, each value has a length (u16) followed by its
// bytes. A missing value has a reason instead of the length (see value_path.hpp). The bytes may be damaged.
CallValues call_values(const CallSignature& signature, const CallAbi& abi, std::span<const std::uint64_t> registers,
                       Bytes recorded);
// Adds values that were read when the call returned. For each value, `late` contains its index among the recorded
// values (u16), its size (u16) and its bytes. The bytes may be damaged.
void add_late_values(CallValues& values, const CallSignature& signature, const CallAbi& abi, Bytes late);
// Returns the first register of an argument. Empty if the register is not recorded, or if the argument is a structure.
std::optional<unsigned> register_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);
// Returns the result of a call. Empty if the function returns nothing or its type is unknown.
std::optional<CallValue> result_value(const ValueType& type, const CallAbi& abi, std::uint64_t value);

constexpr std::int64_t kMostErrno = 4095;  // MAX_ERRNO, include/linux/err.h
// Returns the error number in a value, such as -22; empty if the value is not an error. A value may be an error if it
// is a signed integer, a pointer made by ERR_PTR(), or one of the last 4095 values of unsigned long (IS_ERR_VALUE).
std::optional<int> error_of(const CallValue& value);
// Returns the name of an error: "EINVAL" for -22. Empty if there is no such error.
std::string error_name(int error);
// Returns the error with this name: -22 for "EINVAL". Empty if there is no such name.
std::optional<int> error_number(std::string_view name);

// Returns a value as text that is safe to print: "-22 (EINVAL)", "0x255", "true", "\"etc\"", or "\"et\"…" for a string
// that was cut. Error names are only shown if `as_result` is true.
std::string value_text(const CallValue& value, bool as_result);
// Returns the name (unescaped) and the text of each value. Omits values that would be reached through a NULL pointer.
using NamedText = std::pair<std::string, std::string>;
std::vector<NamedText> value_texts(const CallValues& values);
// Returns all values as one text that is safe to print: "fd=3, count=4096, uf=(on the stack, not recorded)". The text
// "..." stands for arguments that a variadic function may have in addition.
std::string values_text(const CallValues& values);

}  // namespace kmt
