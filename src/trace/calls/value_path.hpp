// SPDX-License-Identifier: GPL-2.0-or-later
// The location of a value that can be reached from an argument. Describes the meaning of an expression such as
// `file->f_path.dentry->d_name.name` for one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// A recorded value starts with its size. If the value is missing, one of these numbers replaces the size.
constexpr std::uint16_t kValueNotRead = 0xFFFF;
constexpr std::uint16_t kValueLeftOut = 0xFFFE;  // the value did not fit; never stored in a file
constexpr std::size_t kMostStringBytes = 255;    // maximum length of a recorded string

constexpr unsigned kStackPointer = ~0U;  // used instead of the number of an argument register

// The way to a value. Reading starts with `at`, which is the argument's register, or the stack pointer at function
// entry:
//   no offsets: the value is the low `size` bytes of `at`;
//   each offset except the last: at = pointer (a word of the kernel) at address at + offset;
//   last offset: the value is at address at + offset.
// A value other than a string has `size` bytes in the kernel's byte order. A bit field is read with the bits around it.
// A string ends with a NUL, after `size` bytes if `size` is not 0 (an array of char), or at the recorder's limit.
struct ValuePath {
  std::string text;                    // as typed by the user; the argument's name for string arguments
  unsigned argument = 0;               // index of the argument register, or kStackPointer
  std::vector<std::uint32_t> offsets;  // in bytes
  std::uint32_t size = 0;              // in bytes; 1, 2, 4 or 8 except for strings
  bool is_string = false;
  bool in_user_memory = false;         // according to the type or function name; if false, the address decides
  std::optional<unsigned> counted_by;  // for strings without a final NUL: argument register with the length
  bool counted_by_int = false;         // only its low 32 bits count: the upper bits of an int are undefined
};

// Values to record for the calls of one function, in the order of the record's field `values`.
struct FunctionValues {
  std::string function;
  std::vector<ValuePath> values;
};

}  // namespace kmt
