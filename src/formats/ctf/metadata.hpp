// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the metadata of CTF 1.8: one stream class, and one event class per kernel event format, with LTTng's names.
// All fields are aligned to bytes, so an event has the fields of the record one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

using Uuid = std::array<std::uint8_t, 16>;

// The form in which a field of a record is written to a CTF event.
enum class FieldForm : std::uint8_t {
  number,
  characters,  // fixed-size text, up to the first NUL
  numbers,     // fixed-size array of numbers
  text,        // string from a __data_loc
  sequence,    // u16 with the number of elements, then the numbers from a __data_loc
  rest,        // u16 with the number of elements, then the numbers up to the end of the record
};
struct WrittenField {
  FormatField field;
  FieldForm form = FieldForm::number;
  unsigned element_size = 1;  // in bytes; only for numbers, sequence and rest
};
// Returns all fields except the common ones.
std::vector<WrittenField> written_fields(const EventFormat& format);

// Offsets in bytes of the members of the packet header and the packet context. The events start at kBytes.
struct PacketLayout {
  static constexpr std::size_t kMagic = 0, kUuid = 4, kStreamId = 20, kInstance = 24;
  static constexpr std::size_t kBegin = 32, kEnd = 40, kContentBits = 48, kPacketBits = 56, kSequence = 64;
  static constexpr std::size_t kDiscarded = 72, kCpu = 80, kBytes = 84;
};

std::string metadata_text(const KernelDescription& kernel, const Uuid& uuid, const std::vector<EventFormat>& formats);

}  // namespace kmt::ctf
