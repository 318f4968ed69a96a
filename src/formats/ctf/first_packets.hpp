// SPDX-License-Identifier: GPL-2.0-or-later
// Finds out how many packets are missing before the first packet of a stream: a tracer in overwrite mode has
// overwritten them, or a snapshot does not include them. libbabeltrace2 does not report them for CTF 1.8.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "base/endian.hpp"

namespace kmt::ctf {

// Identifies a stream: the UUID of its trace, as 16 bytes, and the IDs of the stream class and of the stream.
using StreamKey = std::tuple<std::string, std::uint64_t, std::uint64_t>;
// Number of packets before the first one, by stream.
using EarlierPackets = std::map<StreamKey, std::uint64_t>;

// Adds the streams in a folder of a CTF 1.8 trace. If a stream was added before, keeps the lower number, because a
// rotated trace has parts of each stream in several folders. Adds nothing if the packets are not those of LTTng 2.8 or
// later, which added the packet numbers.
void add_earlier_packets(const std::string& folder, ByteOrder order, EarlierPackets& earlier);

}  // namespace kmt::ctf
