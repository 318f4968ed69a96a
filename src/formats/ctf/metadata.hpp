// SPDX-License-Identifier: GPL-2.0-or-later
// The metadata of the CTF 1.8 that is written: one stream class, an event class for each of the kernel's formats, named
// as LTTng names them. All is aligned to bytes, so that an event's fields are those of the record one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/ftrace/event_format.hpp"
#include "trace/kernel_description.hpp"

namespace kmt::ctf {

using Uuid = std::array<std::uint8_t, 16>;

// How a field of a record becomes a field of an event.
enum class FieldForm : std::uint8_t {
  number,
  characters,  // so many, text up to the first NUL
  numbers,     // so many
  text,        // a string, of a __data_loc
  sequence,    // a u16 that counts, then the numbers, of a __data_loc
  rest,        // the same, of all that the record has from there on
};
struct WrittenField {
  FormatField field;
  FieldForm form = FieldForm::number;
  unsigned element_size = 1;  // of numbers, sequence, rest
};
// Those behind the common ones.
std::vector<WrittenField> written_fields(const EventFormat& format);

// Bytes in front of a packet's events and where its context's members stand, as the metadata says.
struct PacketLayout {
  static constexpr std::size_t kMagic = 0, kUuid = 4, kStreamId = 20, kInstance = 24;
  static constexpr std::size_t kBegin = 32, kEnd = 40, kContentBits = 48, kPacketBits = 56, kSequence = 64;
  static constexpr std::size_t kDiscarded = 72, kCpu = 80, kBytes = 84;
};

std::string metadata_text(const KernelDescription& kernel, const Uuid& uuid, const std::vector<EventFormat>& formats);

}  // namespace kmt::ctf
