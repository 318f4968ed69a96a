// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the metadata of CTF 2: a sequence of JSON texts, each after the byte 0x1E (RFC 7464). The metadata may be split
// into packets (CTF2-PMETA-1.0, or LTTng's packets with the shorter header of CTF 1.8).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/byte_reader.hpp"
#include "formats/ctf/field_node.hpp"

namespace kmt::ctf {

struct JsonClock {
  std::string name, description;
  std::uint64_t frequency = 0;
  std::int64_t offset_seconds = 0;
  std::uint64_t offset_cycles = 0;  // in cycles, added to offset_seconds; less than the frequency
  std::uint64_t precision = 0;
  bool is_unix_epoch = false;
};

struct JsonEventClass {
  std::string name;
  std::unique_ptr<FieldNode> specific_context, payload;  // null if the metadata has no such structure
};

struct JsonStreamClass {
  std::string name;
  std::optional<JsonClock> clock;
  // Null if the metadata has no such structure.
  std::unique_ptr<FieldNode> packet_context, event_header, common_context;
  std::map<std::uint64_t, JsonEventClass> events;  // by ID
};

struct JsonMetadata {
  std::optional<std::array<std::uint8_t, 16>> uuid;
  std::map<std::string, std::variant<std::string, std::int64_t>> environment;
  std::unique_ptr<FieldNode> packet_header;          // null if the metadata has no packet header
  std::map<std::uint64_t, JsonStreamClass> streams;  // by ID
  std::uint32_t slots = 0;                           // number of values that are lengths or selectors of other fields
};

// True if the file starts like metadata of CTF 2.
bool is_json_metadata(Bytes file);

struct JsonMetadataStart {
  std::string uuid;  // raw bytes; may be empty
  bool big_endian = false;
};
// Reads the UUID, which is equal in all folders of a trace, and the byte order. Never throws.
JsonMetadataStart start_of_json_metadata(Bytes file);

// Parses the metadata of CTF 2. Throws Error with the number of the fragment and its offset if the metadata is
// incomplete or contradictory.
JsonMetadata parse_json_metadata(Bytes file);

}  // namespace kmt::ctf
