// SPDX-License-Identifier: GPL-2.0-or-later
// Rejects metadata of a CTF trace that libbabeltrace2 cannot read in bounded time.
#pragma once

#include <cstdint>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

constexpr std::uint32_t kMetadataMagic = 0x75D11D57;  // stored in the byte order of the trace

// Throws Error with the file offset if libbabeltrace2 (2.0) would not finish. There are two such cases: packet headers
// (CTF 1.8.3, 7.1) that do not form a chain up to the file's end cause an endless loop, and comparing the names of very
// many members takes minutes. A file without packets counts as text.
void check_metadata(Bytes file);

}  // namespace kmt::ctf
