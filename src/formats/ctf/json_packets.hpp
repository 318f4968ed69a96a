// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the packets in the files of a CTF 2 trace, and which files are parts of one stream.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/ctf/field_decoder.hpp"
#include "formats/ctf/graph.hpp"
#include "formats/ctf/json_metadata.hpp"

namespace kmt::ctf {

// The header and context of a packet.
struct PacketStart {
  const JsonStreamClass* stream_class = nullptr;
  std::uint64_t content_bits = 0;  // from the start of the packet; limited to the data in the file
  std::uint64_t total_bytes = 0;   // limited to the data in the file
  bool is_cut_off = false;         // the file ends before the packet
};

// Reads the header of the packet at the offset and checks it. Throws Error if it is damaged or belongs to another
// trace.
const JsonStreamClass& read_packet_header(const JsonMetadata& metadata, Bytes file, std::uint64_t offset,
                                          FieldDecoder& decoder);
// Reads the context after read_packet_header(), and stores it in `out` unless `out` is null. Events follow.
PacketStart read_packet_context(const JsonStreamClass& stream_class, Bytes file, std::uint64_t offset,
                                FieldDecoder& decoder, bt_field* out);

struct StreamFile {
  std::shared_ptr<const MappedFile> file;
  std::uint64_t first_time = 0;  // clock value at the start of the first packet
};

// The files of a stream in the order of their times. A stream of a rotated trace has several files.
struct StreamFiles {
  std::uint64_t stream_class_id = 0;
  const JsonStreamClass* stream_class = nullptr;  // null: the first packet is damaged
  std::optional<std::uint64_t> id;
  std::vector<StreamFile> files;
};

std::vector<StreamFiles> streams_in(const JsonMetadata& metadata, const std::vector<std::string>& folders);

// Returns nothing if the packets have no times. Damaged packets are left out.
std::optional<TimeRange> time_range_of(const JsonMetadata& metadata, const std::vector<StreamFiles>& streams);

}  // namespace kmt::ctf
