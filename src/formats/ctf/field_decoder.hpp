// SPDX-License-Identifier: GPL-2.0-or-later
// Decodes the fields of CTF 2 (CTF2-SPEC-2.0, section 6) into the fields of libbabeltrace2.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <babeltrace2/babeltrace.h>

#include "formats/bit_reader.hpp"
#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

// Values of the fields that have a role (FieldNode::roles) in the current packet and event.
struct RoleValues {
  std::optional<std::uint64_t> magic;
  std::optional<std::array<std::uint8_t, 16>> uuid;
  std::uint64_t stream_class = 0;
  std::optional<std::uint64_t> stream;
  std::uint64_t clock = 0;  // current value of the default clock
  bool has_clock = false;
  std::optional<std::uint64_t> end_time, discarded, content_bits, total_bits, sequence;
  std::uint64_t event_class = 0;
};

class FieldDecoder {
 public:
  explicit FieldDecoder(std::uint32_t slots) : slots_(slots) {}

  // Starts a packet. The bytes in `packet` may continue after the end of the packet.
  void begin_packet(Bytes packet, std::uint64_t offset);
  void begin_event();
  // Reads a field, and stores its value in `out` unless `out` is null.
  void read(const FieldNode& field, bt_field* out);

  BitReader in;
  RoleValues roles;

 private:
  struct Slot {
    SelectorValue value;
    std::uint64_t packet = 0;  // number of the packet in which the value was read; 0: not read yet
  };

  void read_bits(const FieldNode& field, bt_field* out);
  void read_variable(const FieldNode& field, bt_field* out);
  void read_text(const FieldNode& field, bt_field* out);
  void read_blob(const FieldNode& field, bt_field* out);
  void read_structure(const FieldNode& field, bt_field* out);
  void read_array(const FieldNode& field, bt_field* out);
  void read_optional(const FieldNode& field, bt_field* out);
  void read_variant(const FieldNode& field);
  void store_value(const FieldNode& field, std::uint64_t value, bool is_signed, unsigned bits);
  void take_roles(const FieldNode& field, std::uint64_t value, unsigned bits);
  SelectorValue value_for(const FieldNode& field) const;
  std::uint64_t length_of(const FieldNode& field) const;

  std::vector<Slot> slots_;
  std::uint64_t packet_ = 0;  // number of the current packet
};

}  // namespace kmt::ctf
