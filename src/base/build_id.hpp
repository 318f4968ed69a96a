// SPDX-License-Identifier: GPL-2.0-or-later
// Reads build IDs. A program and its debug info belong together if their build IDs are equal.
#pragma once

#include <string>

#include "base/byte_reader.hpp"

namespace kmt {

// Returns the contents of the note NT_GNU_BUILD_ID in lower-case hex, or an empty string. `notes` has the format of an
// ELF note section, like /sys/kernel/notes (elf(5), "Notes").
std::string gnu_build_id(Bytes notes, ByteOrder order);

// True if the text is 1 to 64 bytes, each written as two lower-case hex digits. gnu_build_id() returns this format.
// Such a text is safe as part of a path.
bool is_build_id(std::string_view text);

}  // namespace kmt
