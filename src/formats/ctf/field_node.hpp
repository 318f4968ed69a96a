// SPDX-License-Identifier: GPL-2.0-or-later
// A field of CTF 2: its layout in a stream, and its fields if it is compound. If a field class is used several times,
// each use has a separate node. Specification: CTF2-SPEC-2.0 (diamon.org/ctf), section 5.3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kmt::ctf {

// Elements of an array, and bytes of a text, beyond this number are dropped. A record has at most 4000 bytes anyway.
constexpr std::uint64_t kMostKept = 4096;

enum class FieldKind : std::uint8_t {
  bit_array,
  boolean,
  unsigned_integer,
  signed_integer,
  real,
  variable_unsigned,  // LEB128
  variable_signed,
  text_until_nul,
  static_text,
  dynamic_text,
  static_blob,
  dynamic_blob,
  structure,
  static_array,
  dynamic_array,
  optional,
  variant,
};

enum class TextEncoding : std::uint8_t { utf8, utf16be, utf16le, utf32be, utf32le };

// The structures of a packet and of an event, in their order in the stream.
enum class FieldScope : std::uint8_t {
  packet_header,
  packet_context,
  event_header,
  common_context,
  specific_context,
  payload
};
constexpr std::size_t kFieldScopes = 6;

// The roles of a field, such as being the time of an event. Each constant is one bit.
struct FieldRole {
  static constexpr std::uint32_t kMagic = 1u << 0;
  static constexpr std::uint32_t kUuid = 1u << 1;
  static constexpr std::uint32_t kStreamClass = 1u << 2;
  static constexpr std::uint32_t kStream = 1u << 3;
  static constexpr std::uint32_t kTime = 1u << 4;
  static constexpr std::uint32_t kEndTime = 1u << 5;
  static constexpr std::uint32_t kDiscarded = 1u << 6;
  static constexpr std::uint32_t kContentLength = 1u << 7;
  static constexpr std::uint32_t kTotalLength = 1u << 8;
  static constexpr std::uint32_t kSequence = 1u << 9;
  static constexpr std::uint32_t kEventClass = 1u << 10;
};

// An integer of 64 bits, signed or unsigned: {true, value}, or {false, two's complement} for a negative value. These
// pairs have the same order as the integers.
using SelectorValue = std::pair<bool, std::uint64_t>;
using SelectorRange = std::pair<SelectorValue, SelectorValue>;

struct FieldNode {
  static constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

  FieldKind kind = FieldKind::structure;
  TextEncoding encoding = TextEncoding::utf8;
  bool big_endian = false;
  bool last_to_first = false;   // true if the first bit in the stream is the most significant one
  bool is_kept = true;          // true if libbabeltrace2 can store the value
  std::uint64_t length = 0;     // bits of a number, bytes of a text or BLOB, elements of an array
  std::uint64_t alignment = 1;  // in bits
  std::uint32_t roles = 0;
  // Number of fields: this field and all fields inside it. Only one element of each array counts.
  std::uint64_t weight = 1;
  std::uint64_t most_kept = 0;  // maximum number of an array's elements or a BLOB's bytes to store

  std::string name;                   // name of the member of a structure, or of the option of a variant
  std::vector<SelectorRange> ranges;  // values that select an option of a variant, or the field of an optional
  // The members of a structure, or the options of a variant. An array or an optional has one field.
  std::vector<std::unique_ptr<FieldNode>> fields;

  // The path to the field that has this field's length or selector. If `origin` is empty, the path starts at the
  // structure that contains this field.
  std::optional<FieldScope> origin;
  std::vector<std::optional<std::string>> path;  // name of the member at each step; empty: go to the parent structure

  std::uint32_t source = kNoSlot;    // slot from which the length or selector is read
  std::vector<std::uint32_t> slots;  // slots in which the value is stored
};

// True if the field or a field in it has the role.
inline bool has_role(const FieldNode* field, std::uint32_t role) {
  if (field == nullptr) return false;
  if ((field->roles & role) != 0) return true;
  for (const auto& inner : field->fields)
    if (has_role(inner.get(), role)) return true;
  return false;
}

}  // namespace kmt::ctf
