// SPDX-License-Identifier: GPL-2.0-or-later
// The layout of packets is the one that LTTng declares in the metadata (lttng-modules, lttng-events.c:
// _lttng_session_metadata_statedump(), _lttng_stream_packet_context_declare()).
#include "formats/ctf/first_packets.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/words.hpp"
#include "formats/ctf/metadata_checks.hpp"

namespace kmt::ctf {

namespace {

namespace fs = std::filesystem;

// The first fields of a packet.
constexpr std::array<std::string_view, 9> kFields = {
    " magic;",         " uuid[16];",     " stream_id;",   " stream_instance_id;", " timestamp_begin;",
    " timestamp_end;", " content_size;", " packet_size;", " packet_seq_num;"};
// Offsets of these fields in bytes. The fields follow each other without gaps in the packet, aligned to bytes.
constexpr std::size_t kUuid = 4, kStreamClass = 20, kStream = 24, kBeginTime = 32, kEndTime = 40, kContentSize = 48,
                      kPacketSize = 56, kSequence = 64, kEnd = 72;

// Returns the metadata with one blank in place of several blanks and line breaks.
std::string plain_metadata(Bytes file) {
  std::string text;
  if (const auto order = order_of_metadata(file))
    for_each_packet(file, *order,
                    [&text](Bytes packet, std::uint64_t) { text += as_text(packet.subspan(kPacketHeaderBytes)); });
  else
    text = as_text(file);
  std::string plain;
  each_line(text, [&plain](std::string_view line) {
    for (Words words(line); !words.empty();) plain.append(words.next()).append(" ");
  });
  return plain;
}

bool declares_fields(std::string_view metadata) {
  std::size_t at = 0;
  return std::ranges::all_of(kFields, [&](std::string_view field) {
    at = metadata.find(field, at);
    return at != metadata.npos;
  });
}

// True if the packet's numbers are plausible. If not, the fields do not have the usual sizes.
bool is_plausible(Bytes packet, ByteOrder order) {
  const auto number = [&](std::size_t at) { return load<std::uint64_t>(packet.data() + at, order); };
  return load<std::uint32_t>(packet.data(), order) == kPacketMagic && number(kBeginTime) <= number(kEndTime) &&
         number(kContentSize) <= number(kPacketSize) && number(kPacketSize) % 8 == 0 &&
         number(kPacketSize) / 8 >= kEnd && number(kPacketSize) / 8 <= packet.size();
}

}  // namespace

void add_earlier_packets(const std::string& folder, ByteOrder order, EarlierPackets& earlier) {
  const std::string metadata = plain_metadata(MappedFile((fs::path(folder) / "metadata").string()).bytes());
  if (!declares_fields(metadata)) return;
  for (const std::string& name : names_in(folder)) {
    const fs::path path = fs::path(folder) / name;
    std::error_code code;
    if (name == "metadata" || !fs::is_regular_file(path, code) || fs::file_size(path, code) < kEnd) continue;
    const MappedFile stream(path.string());
    const Bytes packet = stream.bytes();
    if (!is_plausible(packet, order)) continue;
    const auto sequence = load<std::uint64_t>(packet.data() + kSequence, order);
    StreamKey key = {std::string(as_text(packet.subspan(kUuid, kStreamClass - kUuid))),
                     load<std::uint32_t>(packet.data() + kStreamClass, order),
                     load<std::uint64_t>(packet.data() + kStream, order)};
    const auto [place, is_new] = earlier.try_emplace(std::move(key), sequence);
    if (!is_new) place->second = std::min(place->second, sequence);
  }
}

}  // namespace kmt::ctf
