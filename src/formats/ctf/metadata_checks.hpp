// SPDX-License-Identifier: GPL-2.0-or-later
// Rejects metadata of a CTF trace that libbabeltrace2 cannot read in bounded time.
#pragma once

#include <cstdint>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

constexpr std::uint32_t kMetadataMagic = 0x75D11D57;  // stored in the byte order of the trace

// Throws Error with the file offset if the packet headers do not form a chain up to the file's end. A file without
// packets is accepted.
void check_packets(Bytes file);

// Throws Error with the file offset if libbabeltrace2 (2.0) would not finish. This is the case in two situations. If
// the packet headers (CTF 1.8.3, 7.1) do not form a chain up to the file's end, the library loops endlessly. If there
// are very many members, it compares their names for minutes. A file without packets counts as text.
void check_metadata(Bytes file);

}  // namespace kmt::ctf
