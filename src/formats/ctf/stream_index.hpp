// SPDX-License-Identifier: GPL-2.0-or-later
// LTTng's index of a stream's packets, index/NAME.idx beside the stream NAME: the stream's contents as recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

// The packets in the index that a stream lacks.
struct CutOff {
  std::uint64_t packets = 0;    // in the index
  std::uint64_t missing = 0;    // the incomplete ones among them
  std::uint64_t offset = 0;     // of the first of these
  std::uint64_t discarded = 0;  // events that the tracer discarded and counted in them
};

// Empty if nothing is missing, or the index is empty. Ignores an incomplete entry, because an index may be truncated
// too. Throws Error if it is not an index.
std::optional<CutOff> cut_off_by_index(Bytes index, std::uint64_t stream_bytes);

std::string to_string(const CutOff& cut);

}  // namespace kmt::ctf
