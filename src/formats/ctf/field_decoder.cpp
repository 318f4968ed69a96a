// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/field_decoder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <string>

#include <fmt/format.h>

#include "base/encodings.hpp"
#include "base/endian.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/ctf/field_classes.hpp"

namespace kmt::ctf {

namespace {

std::uint64_t sign_extended(std::uint64_t value, unsigned bits) {
  if (bits >= 64 || (value >> (bits - 1) & 1) == 0) return value;
  return value | ~std::uint64_t{0} << bits;
}

// Converts a number of 16 bits (IEEE 754 binary16).
float half_precision(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 0x1F);
  const auto fraction = static_cast<float>(bits & 0x3FF);
  float value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 0x1F) value = (bits & 0x3FF) == 0 ? HUGE_VALF : NAN;
  return (bits >> 15 & 1) != 0 ? -value : value;
}

unsigned unit_of(TextEncoding encoding) {
  switch (encoding) {
    case TextEncoding::utf8: return 1;
    case TextEncoding::utf16be:
    case TextEncoding::utf16le: return 2;
    case TextEncoding::utf32be:
    case TextEncoding::utf32le: break;
  }
  return 4;
}

bool is_zero(Bytes unit) {
  return std::ranges::all_of(unit, [](std::uint8_t byte) { return byte == 0; });
}

// Returns the text in UTF-8.
std::string text_in(Bytes bytes, TextEncoding encoding) {
  bytes = bytes.first(std::min<std::size_t>(bytes.size(), kMostKept));
  if (encoding == TextEncoding::utf8) return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const bool big = encoding == TextEncoding::utf16be || encoding == TextEncoding::utf32be;
  const ByteOrder order = big ? ByteOrder::big : ByteOrder::little;
  const unsigned unit = unit_of(encoding);
  std::string out;
  std::uint32_t high = 0;  // UTF-16 unit that is the first half of a character; 0 if there is none
  for (std::size_t at = 0; at + unit <= bytes.size(); at += unit) {
    const std::uint32_t code =
        unit == 2 ? load<std::uint16_t>(bytes.data() + at, order) : load<std::uint32_t>(bytes.data() + at, order);
    const bool is_second = unit == 2 && high != 0 && code >= 0xDC00 && code < 0xE000;
    if (is_second) append_utf8(out, 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00));
    if (high != 0 && !is_second) append_utf8(out, high);
    high = unit == 2 && code >= 0xD800 && code < 0xDC00 ? code : 0;
    if (high == 0 && !is_second) append_utf8(out, code);
  }
  return out;
}

// Returns the new value of the clock, whose low `bits` bits are `value`. If `value` is less than the old value of these
// bits, they have wrapped around (CTF2-SPEC-2.0, 6.3).
std::uint64_t updated_clock(std::uint64_t clock, std::uint64_t value, unsigned bits) {
  if (bits >= 64) return value;
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  return (clock & ~mask) + (value >= (clock & mask) ? 0 : mask + 1) + value;
}

void set_length(bt_field* array, std::uint64_t length) {
  if (bt_field_array_dynamic_set_length(array, length) != BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
    throw std::bad_alloc();
}

bool is_in(const std::vector<SelectorRange>& ranges, const SelectorValue& value) {
  return std::ranges::any_of(
      ranges, [&value](const SelectorRange& range) { return range.first <= value && value <= range.second; });
}

}  // namespace

void FieldDecoder::begin_packet(Bytes packet, std::uint64_t offset) {
  in = BitReader(packet, offset);
  roles = {};
  ++packet_;
}

void FieldDecoder::begin_event() { roles.event_class = 0; }

void FieldDecoder::read(const FieldNode& field, bt_field* out) {
  in.align(field.alignment);
  switch (field.kind) {
    case FieldKind::bit_array:
    case FieldKind::boolean:
    case FieldKind::unsigned_integer:
    case FieldKind::signed_integer:
    case FieldKind::real: return read_bits(field, out);
    case FieldKind::variable_unsigned:
    case FieldKind::variable_signed: return read_variable(field, out);
    case FieldKind::text_until_nul:
    case FieldKind::static_text:
    case FieldKind::dynamic_text: return read_text(field, out);
    case FieldKind::static_blob:
    case FieldKind::dynamic_blob: return read_blob(field, out);
    case FieldKind::structure: return read_structure(field, out);
    case FieldKind::static_array:
    case FieldKind::dynamic_array: return read_array(field, out);
    case FieldKind::optional: return read_optional(field, out);
    case FieldKind::variant: return read_variant(field);
  }
}

void FieldDecoder::read_bits(const FieldNode& field, bt_field* out) {
  const auto length = static_cast<unsigned>(field.length);
  if (length > 64) {
    // libbabeltrace2 stores at most 64 bits. A boolean with more bits is true if any of its bits is set.
    bool is_set = false;
    for (unsigned done = 0; done < length; ++done) is_set |= in.bits(1, field.big_endian, field.last_to_first) != 0;
    if (field.kind == FieldKind::boolean) store_value(field, is_set ? 1 : 0, false, 1);
    if (out != nullptr && field.kind == FieldKind::boolean) bt_field_bool_set_value(out, is_set ? BT_TRUE : BT_FALSE);
    return;
  }
  const std::uint64_t bits = in.bits(length, field.big_endian, field.last_to_first);
  const bool is_signed = field.kind == FieldKind::signed_integer;
  const std::uint64_t value = is_signed ? sign_extended(bits, length) : bits;
  store_value(field, value, is_signed, length);
  if (out == nullptr) return;
  switch (field.kind) {
    case FieldKind::bit_array: return bt_field_bit_array_set_value_as_integer(out, value);
    case FieldKind::boolean: return bt_field_bool_set_value(out, value != 0 ? BT_TRUE : BT_FALSE);
    case FieldKind::unsigned_integer: return bt_field_integer_unsigned_set_value(out, value);
    case FieldKind::signed_integer: return bt_field_integer_signed_set_value(out, static_cast<std::int64_t>(value));
    default: break;
  }
  if (length == 64) return bt_field_real_double_precision_set_value(out, std::bit_cast<double>(value));
  bt_field_real_single_precision_set_value(
      out, length == 32 ? std::bit_cast<float>(static_cast<std::uint32_t>(value)) : half_precision(value));
}

void FieldDecoder::read_variable(const FieldNode& field, bt_field* out) {
  const bool is_signed = field.kind == FieldKind::variable_signed;
  std::uint64_t value = 0;
  unsigned bits = 0;
  for (std::uint8_t byte = 0x80; (byte & 0x80) != 0; bits += 7) {
    byte = in.bytes(1).front();
    const std::uint64_t part = byte & 0x7F;
    const bool is_sign_only = is_signed && (part == 0 || part == 0x7F);
    if ((bits == 63 && part > 1 && !is_sign_only) || (bits > 63 && part != 0 && !is_sign_only))
      throw Error("an integer has more than 64 bits");
    if (bits < 64) value |= part << bits;
  }
  if (is_signed) value = sign_extended(value, std::min(bits, 64u));
  store_value(field, value, is_signed, bits);
  if (out == nullptr) return;
  if (is_signed)
    bt_field_integer_signed_set_value(out, static_cast<std::int64_t>(value));
  else
    bt_field_integer_unsigned_set_value(out, value);
}

void FieldDecoder::read_text(const FieldNode& field, bt_field* out) {
  const unsigned unit = unit_of(field.encoding);
  const bool is_open = field.kind == FieldKind::text_until_nul;
  const Bytes all = is_open ? Bytes() : in.bytes(length_of(field));
  if (all.size() % unit != 0) throw Error("a text ends within a character");
  BitReader ahead = in;
  Bytes text = all;
  std::uint64_t used = 0;
  // The text ends before the first NUL. A text with a given length may have no NUL.
  while (is_open || used < all.size()) {
    const Bytes next = is_open ? ahead.bytes(unit) : all.subspan(used, unit);
    if (is_zero(next)) break;
    used += unit;
  }
  text = is_open ? in.bytes(used) : all.first(used);
  if (is_open) in.skip(std::uint64_t{8} * unit);
  if (out == nullptr) return;
  const std::string utf8 = text_in(text, field.encoding);
  bt_field_string_clear(out);
  if (bt_field_string_append_with_length(out, utf8.data(), utf8.size()) != BT_FIELD_STRING_APPEND_STATUS_OK)
    throw std::bad_alloc();
}

void FieldDecoder::read_blob(const FieldNode& field, bt_field* out) {
  const Bytes bytes = in.bytes(length_of(field));
  if ((field.roles & FieldRole::kUuid) != 0) {
    roles.uuid.emplace();
    std::ranges::copy(bytes, roles.uuid->begin());
  }
  if (out == nullptr) return;
  const std::uint64_t kept = std::min<std::uint64_t>(bytes.size(), field.most_kept);
  set_length(out, kept);
  for (std::uint64_t i = 0; i < kept; ++i)
    bt_field_integer_unsigned_set_value(bt_field_array_borrow_element_field_by_index(out, i), bytes[i]);
}

void FieldDecoder::read_structure(const FieldNode& field, bt_field* out) {
  std::uint64_t index = 0;
  for (const auto& member : field.fields) {
    bt_field* const inner =
        out != nullptr && member->is_kept ? bt_field_structure_borrow_member_field_by_index(out, index++) : nullptr;
    read(*member, inner);
  }
}

void FieldDecoder::read_array(const FieldNode& field, bt_field* out) {
  const std::uint64_t length = length_of(field);
  const FieldNode& element = *field.fields.front();
  const std::uint64_t kept = out == nullptr ? 0 : std::min(length, field.most_kept);
  if (out != nullptr) set_length(out, kept);
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::uint64_t before = in.at();
    read(element, i < kept ? bt_field_array_borrow_element_field_by_index(out, i) : nullptr);
    // If an element has no bits in the stream, neither have the elements after it. Do not read them, because their
    // number may be very large.
    if (in.at() != before || i < kept) continue;
    return;
  }
}

void FieldDecoder::read_optional(const FieldNode& field, bt_field* out) {
  const SelectorValue selector = value_for(field);
  const bool is_there = field.ranges.empty() ? selector.second != 0 : is_in(field.ranges, selector);
  if (is_there) return read(*field.fields.front(), out);
  if (out != nullptr) clear_field(out);
}

void FieldDecoder::read_variant(const FieldNode& field) {
  const SelectorValue selector = value_for(field);
  for (const auto& option : field.fields)
    if (is_in(option->ranges, selector)) return read(*option, nullptr);
  throw Error(fmt::format("no option of \"{}\" has the selector {:#x}", excerpt(field.name), selector.second));
}

void FieldDecoder::store_value(const FieldNode& field, std::uint64_t value, bool is_signed, unsigned bits) {
  const bool is_negative = is_signed && value >> 63 != 0;
  for (const std::uint32_t slot : field.slots) slots_[slot] = {{!is_negative, value}, packet_};
  if (field.roles != 0) take_roles(field, value, bits);
}

void FieldDecoder::take_roles(const FieldNode& field, std::uint64_t value, unsigned bits) {
  const auto has = [&field](std::uint32_t role) { return (field.roles & role) != 0; };
  if (has(FieldRole::kMagic)) roles.magic = value;
  if (has(FieldRole::kStreamClass)) roles.stream_class = value;
  if (has(FieldRole::kStream)) roles.stream = value;
  if (has(FieldRole::kTime)) roles.clock = updated_clock(roles.clock, value, bits);
  if (has(FieldRole::kTime)) roles.has_clock = true;
  if (has(FieldRole::kEndTime)) roles.end_time = value;
  if (has(FieldRole::kDiscarded)) roles.discarded = value;
  if (has(FieldRole::kContentLength)) roles.content_bits = value;
  if (has(FieldRole::kTotalLength)) roles.total_bits = value;
  if (has(FieldRole::kSequence)) roles.sequence = value;
  if (has(FieldRole::kEventClass)) roles.event_class = value;
}

SelectorValue FieldDecoder::value_for(const FieldNode& field) const {
  const Slot& slot = slots_[field.source];
  if (slot.packet != packet_)
    throw Error(fmt::format("\"{}\" depends on a value that comes later or is absent", excerpt(field.name)));
  return slot.value;
}

std::uint64_t FieldDecoder::length_of(const FieldNode& field) const {
  if (field.source == FieldNode::kNoSlot) return field.length;
  const SelectorValue length = value_for(field);
  if (!length.first) throw Error(fmt::format("\"{}\" has a negative length", excerpt(field.name)));
  return length.second;
}

}  // namespace kmt::ctf
