// SPDX-License-Identifier: GPL-2.0-or-later
// The build-id by which a program and its debug info are known to belong together.
#pragma once

#include <string>

#include "base/byte_reader.hpp"

namespace kmt {

// Returns the contents of the note NT_GNU_BUILD_ID in lower-case hex, or an empty string. `notes` are ELF notes as in a
// section or /sys/kernel/notes (elf(5), "Notes": sizes of name and contents, type, and both padded to 4 bytes).
std::string gnu_build_id(Bytes notes, ByteOrder order);

// Lower-case hex digits in pairs, 1 to 64 bytes of them: what gnu_build_id() gives, and a path may be made of.
bool is_build_id(std::string_view text);

}  // namespace kmt
