// SPDX-License-Identifier: GPL-2.0-or-later
// Refuses metadata of a CTF trace that libbabeltrace2 cannot read in bounded time.
#pragma once

#include <cstdint>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

constexpr std::uint32_t kMetadataMagic = 0x75D11D57;  // in the trace's byte order

// Throws Error, with the offset, for what libbabeltrace2 (2.0) reads in an endless loop: headers of packets (CTF 1.8.3,
// 7.1) that do not lead from one to the next up to the file's end. And for structures with so many members that
// comparing each name with all others would take minutes. A file without packets is text.
void check_metadata(Bytes file);

}  // namespace kmt::ctf
