// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the forms in which text traces have pointers. Until Linux 4.14, %p prints NULL as "(null)", padded to the
// width of a pointer, and later as zeros. libtraceevent prints "(nil)". "(____ptrval____)" and "(ptrval)" stand for a
// pointer that is printed before the kernel has random numbers for hashing. Some people paste traces with "xxxxxxxx".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kmt::text {

// True for "(null)" and "(nil)".
bool is_nothing(std::string_view pointer);
// True if the text stands for a pointer whose value is hidden. The pointer may even be NULL.
bool is_hidden(std::string_view pointer);
// Parses a hexadecimal pointer with or without 0x, or a decimal pointer, which Perfetto prints. A pointer without 0x is
// decimal if it has 10, or more than 16, decimal digits.
std::optional<std::uint64_t> parse_pointer(std::string_view pointer);

// Counts the pointers of a trace to learn their width, and whether they are hashes.
class PointerCounts {
 public:
  // Counts a pointer. `padded` is the value and all blanks before it.
  void add(std::string_view padded);
  // Uses a pointer only to learn the width of pointers.
  void add_width(std::string_view padded);
  void add_address(std::uint64_t address) { is_long_ = is_long_ || address > 0xFFFFFFFF; }

  // True if a pointer has lost digits: most pointers have 16, and this one has fewer. With 0x, only addresses of slab
  // objects have a known number of digits.
  bool is_cut(std::string_view pointer, bool is_of_object) const;
  unsigned long_bytes() const;  // 4 or 8; 8 if unknown
  bool are_hashed() const { return hashed_ * 4 > pointers_; }
  std::uint64_t hidden() const { return hidden_; }

 private:
  bool is_long_ = false;
  bool is_short_ = false;  // true if a pointer was printed in 8 columns
  std::uint64_t pointers_ = 0;
  // Numbers of pointers without 0x that have, or lack, the 16 digits that %p prints.
  std::uint64_t full_ = 0, not_full_ = 0;
  std::uint64_t high_ = 0;  // pointers in the upper half of 64 bits, as all objects are on most 64-bit machines
  std::uint64_t hashed_ = 0;
  std::uint64_t hidden_ = 0;
};

}  // namespace kmt::text
