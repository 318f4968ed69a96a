// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/metadata.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "formats/ctf/field_locations.hpp"
#include "formats/ctf/json/field.hpp"
#include "formats/ctf/metadata_checks.hpp"

namespace kmt::ctf {

namespace {

constexpr char kSeparator = 0x1E;
// Offsets in bytes in the header of a metadata packet, and the size of the long header in bytes.
constexpr std::size_t kMajorAt = 35, kHeaderBitsAt = 40, kLengthOfLongHeader = 44;

std::optional<ByteOrder> order_of_packets(Bytes file) {
  return file.size() < kPacketHeaderBytes ? std::nullopt : order_of_metadata(file);
}

// Returns the length of a packet's header. LTTng writes the header of CTF 1.8, whose length is fixed. The header of
// CTF2-PMETA-1.0 is longer and contains its own length.
std::size_t header_length(Bytes packet, ByteOrder order) {
  if (packet.size() < kLengthOfLongHeader) return kPacketHeaderBytes;
  const std::uint32_t bits = load<std::uint32_t>(packet.data() + kHeaderBitsAt, order);
  const bool is_long = bits % 8 == 0 && bits / 8 >= kLengthOfLongHeader && bits / 8 <= packet.size();
  return is_long ? bits / 8 : kPacketHeaderBytes;
}

struct Fragment {
  std::string_view text;
  std::uint64_t offset = 0;  // position in the file, in bytes
};

// A piece of the metadata's text: its position in the text, and its offset in the file.
struct Piece {
  std::size_t at = 0;
  std::uint64_t offset = 0;
};

struct MetadataText {
  std::string text;
  std::vector<Piece> pieces;

  void append(Bytes part, std::uint64_t offset) {
    pieces.push_back({text.size(), offset});
    text.append(as_text(part));
  }
  std::uint64_t offset_of(std::size_t at) const {
    auto piece = std::ranges::upper_bound(pieces, at, {}, &Piece::at);
    if (piece == pieces.begin()) return at;
    --piece;
    return piece->offset + (at - piece->at);
  }
};

MetadataText without_packets(Bytes file) {
  MetadataText out;
  const std::optional<ByteOrder> order = order_of_packets(file);
  if (!order) {
    out.append(file, 0);
    return out;
  }
  for_each_packet(file, *order, [&](Bytes packet, std::uint64_t offset) {
    const std::size_t header = header_length(packet, *order);
    out.append(packet.subspan(header), offset + header);
  });
  return out;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

std::vector<Fragment> fragments_of(const MetadataText& metadata) {
  std::vector<Fragment> fragments;
  const std::string_view text = metadata.text;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(kSeparator, at), text.size());
    const std::string_view part = text.substr(at, end - at);
    if (!is_blank(part)) fragments.push_back({part, metadata.offset_of(at)});
    at = end + 1;
  }
  return fragments;
}

// Throws Error if values are nested too deeply, because the functions that copy or write a Json value are recursive. A
// callback of Json::parse() could also limit the depth, but would take quadratic time for long arrays.
void check_depth(std::string_view text) {
  constexpr unsigned kMostJsonDepth = 128;
  unsigned depth = 0;
  bool is_in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char character = text[at];
    if (character == '"')
      is_in_string = !is_in_string;
    else if (is_in_string)
      at += character == '\\' ? 1 : 0;
    else if (character == '[' || character == '{')
      ++depth;
    else if ((character == ']' || character == '}') && depth > 0)
      --depth;
    if (depth > kMostJsonDepth) throw Error("JSON values are nested too deeply");
  }
}

Json parse_json(std::string_view text) {
  check_depth(text);
  return Json::parse(text.begin(), text.end());
}

JsonClock clock_of(const Json& value) {
  JsonClock clock;
  clock.name = text_property(value, "name", {});
  clock.description = text_property(value, "description", {});
  clock.frequency = number_property(value, "frequency");
  if (clock.frequency == 0 || clock.frequency == UINT64_MAX) throw Error("the frequency of a clock is impossible");
  clock.precision = number_property(value, "precision", 0);
  const Json* const origin = property(value, "origin");
  clock.is_unix_epoch = origin != nullptr && *origin == "unix-epoch";
  const Json* const offset = property(value, "offset-from-origin");
  if (offset == nullptr) return clock;
  if (const Json* const seconds = property(*offset, "seconds")) {
    if (!seconds->is_number_integer()) throw Error("\"seconds\" is not an integer");
    clock.offset_seconds = seconds->get<std::int64_t>();
  }
  clock.offset_cycles = number_property(*offset, "cycles", 0);
  const std::uint64_t whole = clock.offset_cycles / clock.frequency;
  constexpr std::int64_t kMostSeconds = std::int64_t{1} << 40;
  if (clock.offset_seconds < -kMostSeconds || clock.offset_seconds > kMostSeconds || whole > kMostSeconds)
    throw Error("the offset of a clock is impossible");
  clock.offset_seconds += static_cast<std::int64_t>(whole);
  clock.offset_cycles %= clock.frequency;
  return clock;
}

class Parser {
 public:
  JsonMetadata parse(const std::vector<Fragment>& fragments) {
    for (std::size_t i = 0; i < fragments.size(); ++i) {
      try {
        take(parse_json(fragments[i].text), i == 0);
      } catch (const Json::parse_error& error) {
        throw refusal(fmt::format("the text is not valid JSON at byte {}", error.byte), fragments[i], i,
                      i + 1 == fragments.size());
      } catch (const Json::exception&) {
        throw refusal("a value has the wrong type or is too large", fragments[i], i, false);
      } catch (const Error& error) {
        throw refusal(error.what(), fragments[i], i, false);
      }
    }
    if (out_.streams.empty()) throw Error("The trace's metadata describes no stream: it is incomplete");
    return std::move(out_);
  }

 private:
  static Error refusal(const std::string& what, const Fragment& fragment, std::size_t index, bool is_last) {
    Error error(fmt::format("The trace's metadata cannot be used: fragment {}: {}", index + 1, what));
    error.at({{}, {}, fragment.offset});
    if (is_last) error.hint("The last fragment may be cut off: copy the trace again");
    return error;
  }

  void take(const Json& value, bool is_first) {
    const std::string type = text_property(value, "type");
    if (is_first != (type == "preamble")) throw Error("the preamble is missing, or is not the first fragment");
    if (type == "preamble") return take_preamble(value);
    if (type == "field-class-alias") {
      const Json* const field_class = property(value, "field-class");
      if (field_class == nullptr) throw Error("\"field-class\" is missing");
      return fields_.add_alias(text_property(value, "name"), *field_class);
    }
    if (type == "trace-class") return take_trace(value);
    if (type == "clock-class") {
      clocks_[text_property(value, "id")] = clock_of(value);
      return;
    }
    if (type == "data-stream-class") return take_stream(value);
    if (type == "event-record-class") return take_event(value);
    throw Error(fmt::format("unknown type \"{}\"", excerpt(type)));
  }

  void take_preamble(const Json& value) {
    if (const std::uint64_t version = number_property(value, "version"); version != 2)
      throw Error(fmt::format("version {} of CTF is not supported", version));
    // An extension may change the layout of streams. kmemtrace supports no extension.
    if (const Json* const extensions = property(value, "extensions"); extensions != nullptr && !extensions->empty())
      throw Error(
          fmt::format("the trace needs an extension of CTF that is not supported: {}", excerpt(extensions->dump())));
    const Json* const uuid = property(value, "uuid");
    if (uuid == nullptr) return;
    out_.uuid.emplace();
    if (!uuid->is_array() || uuid->size() != out_.uuid->size()) throw Error("\"uuid\" does not have 16 numbers");
    for (std::size_t i = 0; i < uuid->size(); ++i) {
      if (!(*uuid)[i].is_number_unsigned() || (*uuid)[i].get<std::uint64_t>() > 255)
        throw Error("\"uuid\" has a number that is not a byte");
      (*out_.uuid)[i] = (*uuid)[i].get<std::uint8_t>();
    }
  }

  void take_trace(const Json& value) {
    if (has_trace_class_ || !out_.streams.empty())
      throw Error("there are two trace classes, or the trace class follows a stream class");
    has_trace_class_ = true;
    using Role = FieldRole;
    out_.packet_header = fields_.parse_structure(value, "packet-header-field-class",
                                                 Role::kMagic | Role::kUuid | Role::kStreamClass | Role::kStream);
    if (const Json* const environment = property(value, "environment")) take_environment(*environment);
    resolve({out_.packet_header.get()}, {FieldScope::packet_header});
  }

  void take_environment(const Json& environment) {
    if (!environment.is_object()) throw Error("\"environment\" is not an object");
    for (const auto& [name, entry] : environment.items()) {
      if (entry.is_string())
        out_.environment[name] = entry.get<std::string>();
      else if (entry.is_number_integer())
        out_.environment[name] = entry.get<std::int64_t>();
      else
        throw Error("an entry of the environment is neither a text nor an integer");
    }
  }

  void take_stream(const Json& value) {
    using Role = FieldRole;
    const auto [place, is_new] = out_.streams.try_emplace(number_property(value, "id", 0));
    if (!is_new) throw Error(fmt::format("there are two data stream classes {}", place->first));
    JsonStreamClass& stream = place->second;
    stream.name = text_property(value, "name", {});
    if (property(value, "default-clock-class-id") != nullptr) {
      const std::string id = text_property(value, "default-clock-class-id");
      const auto clock = clocks_.find(id);
      if (clock == clocks_.end()) throw Error(fmt::format("unknown clock \"{}\"", excerpt(id)));
      stream.clock = clock->second;
    }
    const std::uint32_t times = stream.clock ? Role::kTime | Role::kEndTime : 0;
    stream.packet_context =
        fields_.parse_structure(value, "packet-context-field-class",
                                times | Role::kDiscarded | Role::kContentLength | Role::kTotalLength | Role::kSequence);
    stream.event_header =
        fields_.parse_structure(value, "event-record-header-field-class", (times & Role::kTime) | Role::kEventClass);
    stream.common_context = fields_.parse_structure(value, "event-record-common-context-field-class", 0);
    resolve(roots_of(stream), {FieldScope::packet_context, FieldScope::event_header, FieldScope::common_context});
  }

  void take_event(const Json& value) {
    const std::uint64_t stream_id = number_property(value, "data-stream-class-id", 0);
    const auto stream = out_.streams.find(stream_id);
    if (stream == out_.streams.end()) throw Error(fmt::format("unknown data stream class {}", stream_id));
    const auto [place, is_new] = stream->second.events.try_emplace(number_property(value, "id", 0));
    if (!is_new) throw Error(fmt::format("there are two event record classes {}", place->first));
    JsonEventClass& event = place->second;
    event.name = text_property(value, "name", {});
    event.specific_context = fields_.parse_structure(value, "specific-context-field-class", 0);
    event.payload = fields_.parse_structure(value, "payload-field-class", 0);
    FieldRoots roots = roots_of(stream->second);
    roots[static_cast<std::size_t>(FieldScope::specific_context)] = event.specific_context.get();
    roots[static_cast<std::size_t>(FieldScope::payload)] = event.payload.get();
    resolve(roots, {FieldScope::specific_context, FieldScope::payload});
  }

  FieldRoots roots_of(const JsonStreamClass& stream) const {
    return {out_.packet_header.get(), stream.packet_context.get(), stream.event_header.get(),
            stream.common_context.get()};
  }
  void resolve(const FieldRoots& roots, std::initializer_list<FieldScope> scopes) {
    for (const FieldScope scope : scopes) resolve_locations(roots, scope, out_.slots);
  }

  JsonMetadata out_;
  JsonFieldParser fields_;
  std::map<std::string, JsonClock> clocks_;
  bool has_trace_class_ = false;
};

}  // namespace

bool is_json_metadata(Bytes file) {
  if (const auto order = order_of_packets(file)) return file[kMajorAt] == 2;
  const std::string_view start = as_text(file).substr(0, 64);
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == kSeparator;
}

JsonMetadataStart start_of_json_metadata(Bytes file) {
  JsonMetadataStart start;
  try {
    const MetadataText metadata = without_packets(file);
    const std::vector<Fragment> fragments = fragments_of(metadata);
    if (fragments.empty()) return start;
    const Json preamble = parse_json(fragments.front().text);
    if (const Json* const uuid = property(preamble, "uuid"))
      for (const Json& byte : *uuid) start.uuid += static_cast<char>(byte.get<int>());
    start.big_endian = metadata.text.find("\"big-endian\"") < metadata.text.find("\"little-endian\"");
  } catch (const std::exception&) {
    return start;  // parse_json_metadata() will report the error
  }
  return start;
}

JsonMetadata parse_json_metadata(Bytes file) {
  const MetadataText metadata = without_packets(file);
  return Parser().parse(fragments_of(metadata));
}

}  // namespace kmt::ctf
