// SPDX-License-Identifier: GPL-2.0-or-later
// LTTng's index of a stream's packets, index/NAME.idx beside the stream NAME: what the stream had when it was recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

// What a stream lacks of the packets that its index tells of.
struct CutOff {
  std::uint64_t packets = 0;    // in the index
  std::uint64_t missing = 0;    // of them not all in the stream
  std::uint64_t offset = 0;     // of the first of these
  std::uint64_t discarded = 0;  // events that the tracer discarded in these, and counted there
};

// Empty where nothing is missing, or the index is empty. An entry that is not whole is passed over: an index can be cut
// off too. Throws Error when it is no index.
std::optional<CutOff> cut_off_by_index(Bytes index, std::uint64_t stream_bytes);

std::string to_string(const CutOff& cut);

}  // namespace kmt::ctf
