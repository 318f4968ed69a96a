// SPDX-License-Identifier: GPL-2.0-or-later
// The arguments, result and other recorded values of a call, from its registers and bytes and the function's prototype.
// They are shown as by ftrace's funcgraph-args (print_function_args() of kernel/trace/trace_output.c, Linux 6.18), with
// these differences: it does not know bool, enumerations and strings; sizes, and unsigned numbers that are neither
// flags nor as wide as addresses, are decimal; NULL has its name; narrow values are cut to their width.
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
  unknown,  // not in a register, or not read: no value
  integer,
  boolean,
  enumeration,
  pointer,
  string,
  structure,  // by value, as its registers
};

// Values, sign-extended, in their order; the names live as long as what the signature comes from.
using Enumerators = std::vector<std::pair<std::uint64_t, std::string_view>>;

// Names of a number's bits.
struct NamedFlags {
  std::vector<FlagName> names;    // in the order shown; each takes its bits away
  std::uint64_t number_mask = 0;  // these bits are a number, of which 0 has a name too
  std::string zero;
  std::string prefix;        // of all names, where they lack it: "FAULT_FLAG_"
  std::uint64_t errors = 0;  // of a result: bits that mark an error
};

struct StructureMember;

struct ValueType {
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_size = false;                            // declared as size_t
  bool is_hex = false;                             // shown in hex: flags, and what may be an address
  bool is_gfp = false;                             // declared as gfp_t
  bool is_long = false;                            // declared as unsigned long: may be an error (IS_ERR_VALUE())
  bool is_octal = false;                           // a file's mode
  std::uint32_t bytes = 0;                         // of no string
  std::shared_ptr<const Enumerators> enumerators;  // of enumerations, and of integers with named values
  std::shared_ptr<const NamedFlags> flags;         // of integers and enumerations that are sets of bits
  std::shared_ptr<const std::vector<StructureMember>> members;  // of structures that may be in registers; null: unknown
};

// Members of nested structures without a name are members of the outer one.
struct StructureMember {
  std::string name;            // "kernel", "val.uid"
  ValueType type;              // of 1, 2, 4 or 8 bytes
  std::uint32_t offset = 0;    // in bytes, of the integer that is read
  std::uint8_t bit_shift = 0;  // as in RecordedValue
  std::uint8_t bits = 0;
};

struct Parameter {
  std::string name;  // empty: it has none
  ValueType type;
};

struct RecordedValueType {
  std::string text;  // as in RecordedValue
  ValueType type;
  std::uint8_t bit_shift = 0;  // as there
  std::uint8_t bits = 0;
};

struct CallSignature {
  std::vector<Parameter> parameters;
  bool more = false;  // variadic
  ValueType result;
  std::vector<RecordedValueType> recorded;
};

// The source of signatures, as analyses see it.
class CallSignatures {
 public:
  virtual ~CallSignatures() = default;
  // Empty where the types of the function, a name without module, are not known.
  virtual std::optional<CallSignature> signature(const std::string& function) const = 0;
};

struct CallValue {
  std::string name;  // empty: of an argument without one, of a result
  ValueKind kind = ValueKind::unknown;
  bool is_signed = false;
  bool is_hex = false;
  bool is_octal = false;
  bool is_long = false;        // as of its type
  bool is_late = false;        // read when the call returned: when it began it could not be
  bool is_cut = false;         // a string that is as long as what is kept of one: there may be more of it
  bool is_unreadable = false;  // its memory could not be read: a string is the pointer to it then, else it is unknown
  bool is_left_out = false;    // likewise, since what was read with the call left no room for it; or an argument that
                               // is in nothing that was recorded, unknown then
  bool is_on_stack = false;    // of such an argument: it lies there
  bool is_failure = false;     // a result whose flags mark an error
  std::uint64_t bits = 0;      // of integers, booleans, enumerations and pointers: extended to 64 bits by their sign
  std::string text;            // a string; the name of a value that has one; a structure as shown
  std::string flags;           // of integers and enumerations: the names of their bits
};

struct CallValues {
  std::vector<CallValue> values;
  std::size_t arguments = 0;  // the first ones of them; other recorded values follow
  bool more = false;          // there are arguments without known names: variable ones, or all
};

constexpr unsigned kArgumentRegisters = 6;  // that are recorded

// Decides in which registers an argument is.
struct CallAbi {
  ByteOrder byte_order = ByteOrder::little;
  unsigned word_bits = 64;
  std::string arch;  // as uname -m; "x86_64", "aarch64" and "s390x" have rules of their own for structures
  const std::vector<FlagName>* gfp_flags = nullptr;  // their names; borrowed, nullptr: not known
};

// The arguments of a call. Strings and other recorded values come from `recorded` (for each a u16 length and its bytes,
// or the reason for none, see value_path.hpp), the others from `registers`. Recorded values follow the arguments. Any
// bytes may be given.
CallValues call_values(const CallSignature& signature, const CallAbi& abi, std::span<const std::uint64_t> registers,
                       Bytes recorded);
// Adds values that were read when the call returned. Each has its number among the recorded values and its size, a u16
// each, and its bytes. Any bytes may be given.
void add_late_values(CallValues& values, const CallSignature& signature, const CallAbi& abi, Bytes late);
// The register that an argument, which is no structure, begins in, of those that are recorded; empty: none.
std::optional<unsigned> register_of(const CallSignature& signature, const CallAbi& abi, std::size_t parameter);
// The result; empty: the function returns nothing, or its type is not known.
std::optional<CallValue> result_value(const ValueType& type, const CallAbi& abi, std::uint64_t value);

constexpr std::int64_t kMostErrno = 4095;  // MAX_ERRNO, include/linux/err.h
// -22 for a value that is an error: signed integers, pointers of ERR_PTR(), and the last 4095 unsigned longs
// (IS_ERR_VALUE()).
std::optional<int> error_of(const CallValue& value);
// "EINVAL"; empty: no such error.
std::string error_name(int error);
// -22 of "EINVAL"; empty: no such name.
std::optional<int> error_number(std::string_view name);

// "-22 (EINVAL)", "0x255", "true", "\"etc\"", "\"et\"…" of a string that was cut: safe to show. Arguments do not name
// errors: `as_result`.
std::string value_text(const CallValue& value, bool as_result);
// The raw name and the text of each value. Values reached through a NULL pointer are left out.
using NamedText = std::pair<std::string, std::string>;
std::vector<NamedText> value_texts(const CallValues& values);
// The same in one: "fd=3, count=4096, uf=(on the stack, not recorded)", with "..." for variable arguments; as safe.
std::string values_text(const CallValues& values);

}  // namespace kmt
