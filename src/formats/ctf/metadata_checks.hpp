// SPDX-License-Identifier: GPL-2.0-or-later
// Rejects metadata of a CTF trace that libbabeltrace2 cannot read in bounded time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/byte_reader.hpp"

namespace kmt::ctf {

constexpr std::uint32_t kMetadataMagic = 0x75D11D57;  // magic number of a packet, in the byte order of the trace

constexpr std::uint32_t kPacketMagic = 0xC1FC1FC1;  // magic number of a packet of a stream

constexpr std::size_t kUuidBytes = 16;
constexpr std::size_t kPacketHeaderBytes = 37;  // size of a packet header in bytes (CTF 1.8.3, 7.1)

// Returns the byte order of metadata in packets; empty if the file has no packets.
std::optional<ByteOrder> order_of_metadata(Bytes file);
// Calls visit(header and content, offset in the file) for each packet. Throws Error with the file offset if the packet
// headers do not form a chain up to the file's end.
void for_each_packet(Bytes file, ByteOrder order, const std::function<void(Bytes, std::uint64_t)>& visit);

// Throws Error with the file offset if libbabeltrace2 (2.0) could not read the metadata in a reasonable time. The
// library loops endlessly if the packet headers (CTF 1.8.3, 7.1) do not form a chain up to the end of the file. If
// there are very many members, it compares their names for minutes. A file without packets is read as text.
void check_metadata(Bytes file);

}  // namespace kmt::ctf
