// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/text/pointer.hpp"

#include "base/number.hpp"
#include "base/text.hpp"

namespace kmt::text {

namespace {
// Number of digits of a pointer on 32-bit and 64-bit kernels.
constexpr std::size_t kShort = 8;
constexpr std::size_t kLong = 16;
}  // namespace

bool is_nothing(std::string_view pointer) {
  return pointer == "(nil)" || pointer == "(null)" || pointer == "(NULL)" || pointer == "NULL" || pointer == "null";
}

bool is_hidden(std::string_view pointer) {
  if (pointer.find("ptrval") != std::string_view::npos || pointer == "pK-error") return true;
  const std::string_view digits = pointer.starts_with("0x") ? pointer.substr(2) : pointer;
  return !digits.empty() && digits.find_first_not_of("xX*") == std::string_view::npos;
}

std::optional<std::uint64_t> parse_pointer(std::string_view pointer) {
  constexpr std::size_t kShortDecimal = 10;  // number of digits of a decimal kernel address on 32-bit kernels
  const bool is_decimal = (pointer.size() > kLong || pointer.size() == kShortDecimal) &&
                          pointer.find_first_not_of("0123456789") == std::string_view::npos;
  // Without 0x, a 64-bit address has all of its 16 digits, so a kernel address with fewer digits is cut off.
  if (pointer.starts_with("ffff") && pointer.size() > kShort && pointer.size() < kLong) return std::nullopt;
  return is_decimal ? parse_number<std::uint64_t>(pointer) : parse_hexadecimal(pointer);
}

// Learns the width of pointers. Only a pointer without 0x shows the width, because then %p has printed all digits.
void PointerCounts::add_width(std::string_view padded) {
  if (trim(padded).starts_with("0x")) return;
  if (padded.size() == kLong) is_long_ = true;
  if (padded.size() == kShort) is_short_ = true;
  if (!padded.empty()) ++(padded.size() == kLong ? full_ : not_full_);
}

// Counts a printed pointer. On 64-bit kernels, a pointer that fits into 32 bits may be a hash, because hashes have 32
// bits.
void PointerCounts::add(std::string_view padded) {
  const std::string_view pointer = trim(padded);
  if (pointer.empty()) return;
  add_width(padded);
  if (is_hidden(pointer)) ++hidden_;
  if (is_nothing(pointer) || is_hidden(pointer)) return;
  ++pointers_;
  const std::uint64_t value = parse_pointer(pointer).value_or(0);
  add_address(value);
  if (value >> 63 != 0) ++high_;
  if (pointer.starts_with("0x") || value == 0) return;
  // On 32-bit kernels, kernel addresses are at least 0x80000000, but half of all hashes are lower.
  if (pointer.size() == kLong ? value <= 0xFFFFFFFF : pointer.size() == kShort && value < 0x80000000) ++hashed_;
}

bool PointerCounts::is_cut(std::string_view pointer, bool is_of_object) const {
  constexpr std::uint64_t kZeroSize = 16;  // ZERO_SIZE_PTR, the result of an allocation of 0 bytes
  if (!pointer.starts_with("0x")) return full_ >= not_full_ && full_ > 0 && pointer.size() < kLong;
  if (!is_of_object || pointer.size() >= kLong + 2 || high_ * 2 <= pointers_) return false;
  return parse_pointer(pointer).value_or(0) > kZeroSize;
}

unsigned PointerCounts::long_bytes() const {
  if (is_long_ || (pointers_ == 0 && !is_short_)) return 8;
  return 4;
}

}  // namespace kmt::text
