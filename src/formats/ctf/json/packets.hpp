// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the start of packets in the files of a CTF 2 trace, and finds out which files are parts of the same stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/ctf/field_decoder.hpp"
#include "formats/ctf/graph.hpp"
#include "formats/ctf/json/metadata.hpp"

namespace kmt::ctf {

// The header and context of a packet.
struct PacketStart {
  const JsonStreamClass* stream_class = nullptr;
  std::uint64_t content_bits = 0;  // from the start of the packet; excludes bits that the file lacks
  std::uint64_t total_bytes = 0;   // excludes bytes that the file lacks
  bool is_cut_off = false;         // the packet is longer than the rest of the file
};

// Reads and checks the header of the packet at the offset. Throws Error if the packet is damaged or belongs to another
// trace.
const JsonStreamClass& read_packet_header(const JsonMetadata& metadata, Bytes file, std::uint64_t offset,
                                          FieldDecoder& decoder);
// Reads the packet context. Call this after read_packet_header(). Stores the context in `out` unless `out` is null. The
// decoder is then at the first event.
PacketStart read_packet_context(const JsonStreamClass& stream_class, Bytes file, std::uint64_t offset,
                                FieldDecoder& decoder, bt_field* out);

struct StreamFile {
  std::shared_ptr<const MappedFile> file;
  std::uint64_t first_time = 0;  // clock value at the start of the first packet
};

// The files of a stream, ordered by time. A stream of a rotated trace has several files.
struct StreamFiles {
  std::uint64_t stream_class_id = 0;
  const JsonStreamClass* stream_class = nullptr;  // null if the first packet is damaged
  std::optional<std::uint64_t> id;
  std::vector<StreamFile> files;
};

std::vector<StreamFiles> streams_in(const JsonMetadata& metadata, const std::vector<std::string>& folders);

// Returns the start of the earliest packet and the end of the latest. Skips damaged packets. Empty if packets have no
// times.
std::optional<TimeRange> time_range_of(const JsonMetadata& metadata, const std::vector<StreamFiles>& streams);

}  // namespace kmt::ctf
