// SPDX-License-Identifier: GPL-2.0-or-later
// Describes where to read a value that an argument leads to. An expression such as
// `file->f_path.dentry->d_name.name` becomes such a path, which is valid for one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// Each recorded value starts with its size. If the value is missing, kValueNotRead or kValueLeftOut is stored in place
// of the size.
constexpr std::uint16_t kValueNotRead = 0xFFFF;  // the value could not be read
// The value is in no record, mostly because it was too long. This number is used only in memory, never in files.
constexpr std::uint16_t kValueLeftOut = 0xFFFE;
constexpr std::size_t kMostStringBytes = 255;  // maximum length of a recorded string

// Stored in ValuePath::argument in place of a register number: reading starts at the stack pointer.
constexpr unsigned kStackPointer = ~0U;

// How to read a value. Reading starts with `at`, which is the argument's register, or the stack pointer at function
// entry:
//   no offsets: the value is the low `size` bytes of `at`;
//   each offset except the last: at = pointer (a word of the kernel) at address at + offset;
//   last offset: the value is at address at + offset.
// A value other than a string has `size` bytes in the kernel's byte order. A bit field is read with the bits around it.
// A string ends with a NUL, after `size` bytes if `size` is not 0 (an array of char), or at the recorder's limit.
struct ValuePath {
  // The value as the user typed it in an option; for string arguments, the name of the argument.
  std::string text;
  unsigned argument = 0;               // index of the argument register, or kStackPointer
  std::vector<std::uint32_t> offsets;  // in bytes
  std::uint32_t size = 0;              // in bytes; 1, 2, 4 or 8 except for strings
  bool is_string = false;
  // True: the pointer refers to user memory, according to its type or the function's name. False: the value of the
  // address decides whether it is user memory.
  bool in_user_memory = false;
  // For strings without a final NUL: number of the argument register that contains the string's length.
  std::optional<unsigned> counted_by;
  bool counted_by_int = false;  // true: the length is an int, so only the low 32 bits of the register are used
};

// The values to record when one function is called, in the order of the event's field `values`.
struct FunctionValues {
  std::string function;
  std::vector<ValuePath> values;
};

}  // namespace kmt
