// SPDX-License-Identifier: GPL-2.0-or-later
// Reads build IDs. A program and its debug info belong together if their build IDs are equal.
#pragma once

#include <string>

#include "base/byte_reader.hpp"

namespace kmt {

// Returns the contents of the note NT_GNU_BUILD_ID in lower-case hex, or an empty string. `notes` are ELF notes as in a
// section or /sys/kernel/notes (elf(5), "Notes": sizes of name and contents, type, and both padded to 4 bytes).
std::string gnu_build_id(Bytes notes, ByteOrder order);

// True for 1 to 64 bytes as pairs of lower-case hex digits. This is the format of gnu_build_id(), and is safe in paths.
bool is_build_id(std::string_view text);

}  // namespace kmt
