// SPDX-License-Identifier: GPL-2.0-or-later
// The metadata of written CTF 1.8: one stream class, and an event class for each of the kernel's formats, with LTTng's
// names. All fields are aligned to bytes, so that an event contains the record's fields in order.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

using Uuid = std::array<std::uint8_t, 16>;

// The conversion of a record's field into an event's field.
enum class FieldForm : std::uint8_t {
  number,
  characters,  // a fixed number, text up to the first NUL
  numbers,     // a fixed number
  text,        // a string, of a __data_loc
  sequence,    // a u16 count, then the numbers, of a __data_loc
  rest,        // the same, from there to the record's end
};
struct WrittenField {
  FormatField field;
  FieldForm form = FieldForm::number;
  unsigned element_size = 1;  // of numbers, sequence, rest
};
// Fields after the common ones.
std::vector<WrittenField> written_fields(const EventFormat& format);

// The bytes before a packet's events, and the offsets of its context's members.
struct PacketLayout {
  static constexpr std::size_t kMagic = 0, kUuid = 4, kStreamId = 20, kInstance = 24;
  static constexpr std::size_t kBegin = 32, kEnd = 40, kContentBits = 48, kPacketBits = 56, kSequence = 64;
  static constexpr std::size_t kDiscarded = 72, kCpu = 80, kBytes = 84;
};

std::string metadata_text(const KernelDescription& kernel, const Uuid& uuid, const std::vector<EventFormat>& formats);

}  // namespace kmt::ctf
