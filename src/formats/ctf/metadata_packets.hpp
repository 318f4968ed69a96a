// SPDX-License-Identifier: GPL-2.0-or-later
// Packets of a CTF trace's metadata, as LTTng writes it: CTF 1.8.3, 7.1.
#pragma once

#include <cstdint>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

constexpr std::uint32_t kMetadataMagic = 0x75D11D57;  // in the trace's byte order

// Throws Error, with the offset, if the packets' headers do not lead from one to the next up to the file's end:
// libbabeltrace2 (2.0) reads such a file in an endless loop. Accepts other files, which are text.
void check_metadata_packets(Bytes file);

}  // namespace kmt::ctf
