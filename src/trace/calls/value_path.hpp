// SPDX-License-Identifier: GPL-2.0-or-later
// Where a value lies that an argument of a call leads to: what `file->f_path.dentry->d_name.name` means in one kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kmt {

// In place of the size of a recorded value:
constexpr std::uint16_t kValueNotRead = 0xFFFF;
constexpr std::uint16_t kValueLeftOut = 0xFFFE;  // it did not fit; never in a file
constexpr std::size_t kMostStringBytes = 255;    // kept of a recorded string

constexpr unsigned kStackPointer = ~0U;  // in place of an argument's register

// To be read so, `at` being the argument's register, or the stack pointer, when the function is entered:
//   no offsets: `at` is the value, its low `size` bytes;
//   for each offset but the last: at = the pointer (a word of the kernel) at address at + offset;
//   last offset: at += offset; there is the value.
// A value that is no string is `size` bytes there, in the kernel's byte order, bit fields with the bits around them. A
// string is the bytes there up to a NUL, at most `size` where that is not 0 (an array of char), and at most as many as
// the recorder takes.
struct ValuePath {
  std::string text;                    // as the user wrote it; of an argument that is a string its name
  unsigned argument = 0;               // which of the argument registers, from 0; or kStackPointer
  std::vector<std::uint32_t> offsets;  // in bytes
  std::uint32_t size = 0;              // in bytes; of what is no string 1, 2, 4 or 8
  bool is_string = false;
  bool in_user_memory = false;         // by the type or the function's name, else by the address
  std::optional<unsigned> counted_by;  // of a string that need not end: the argument register that bounds it
  bool counted_by_int = false;         // by its low 32 bits: those above are undefined for an int
};

// Values to record for the calls of one function, in the order of the record's field `values`.
struct FunctionValues {
  std::string function;
  std::vector<ValuePath> values;
};

}  // namespace kmt
