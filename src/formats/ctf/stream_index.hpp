// SPDX-License-Identifier: GPL-2.0-or-later
// Reads LTTng's packet index of a stream. The file index/NAME.idx describes the stream NAME as it was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

// Packets that are in the index but not in the stream.
struct CutOff {
  std::uint64_t packets = 0;    // number of packets in the index
  std::uint64_t missing = 0;    // number of packets that are missing or incomplete in the stream
  std::uint64_t offset = 0;     // offset in bytes of the first missing packet
  std::uint64_t discarded = 0;  // number of events that the tracer discarded since the last complete packet
};

// Returns nothing if no packet is missing or the index is empty. Ignores an incomplete last entry, because the index
// may be truncated too. Throws Error if the data is not an index.
std::optional<CutOff> cut_off_by_index(Bytes index, std::uint64_t stream_bytes);

std::string to_string(const CutOff& cut);

}  // namespace kmt::ctf
