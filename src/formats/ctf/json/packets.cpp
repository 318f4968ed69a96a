// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/json/packets.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "formats/ctf/metadata_checks.hpp"

namespace kmt::ctf {

namespace {

// Converts a value of the clock to nanoseconds. Returns nothing if the result has more than 64 bits.
std::optional<std::int64_t> ns_at(const JsonClock& clock, std::uint64_t value) {
  const __uint128_t cycles = static_cast<__uint128_t>(value) + clock.offset_cycles;
  const __uint128_t ns = cycles * 1'000'000'000 / clock.frequency;
  const __int128_t all = static_cast<__int128_t>(clock.offset_seconds) * 1'000'000'000 + static_cast<__int128_t>(ns);
  if (all < INT64_MIN || all > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(all);
}

void include(std::optional<TimeRange>& all, const JsonClock& clock, std::uint64_t value) {
  const std::optional<std::int64_t> ns = ns_at(clock, value);
  if (!ns) return;
  all = all ? TimeRange{std::min(all->begin_ns, *ns), std::max(all->end_ns, *ns)} : TimeRange{*ns, *ns};
}

void add_file(const JsonMetadata& metadata, const std::string& path, std::vector<StreamFiles>& streams) {
  auto file = std::make_shared<const MappedFile>(path);
  if (file->bytes().empty()) return;  // a stream without packets
  StreamFiles found{0, nullptr, {}, {{file, 0}}};
  try {
    FieldDecoder decoder(metadata.slots);
    found.stream_class = &read_packet_header(metadata, file->bytes(), 0, decoder);
    found.stream_class_id = decoder.roles.stream_class;
    found.id = decoder.roles.stream;
    read_packet_context(*found.stream_class, file->bytes(), 0, decoder, nullptr);
    found.files.front().first_time = decoder.roles.clock;
  } catch (const Error&) {
    // The first packet is damaged. JsonStream reports this when it reads the stream.
  }
  const auto same = std::ranges::find_if(streams, [&found](const StreamFiles& one) {
    return found.id && one.id == found.id && one.stream_class == found.stream_class && found.stream_class != nullptr;
  });
  if (same == streams.end())
    streams.push_back(std::move(found));
  else
    same->files.push_back(found.files.front());
}

}  // namespace

const JsonStreamClass& read_packet_header(const JsonMetadata& metadata, Bytes file, std::uint64_t offset,
                                          FieldDecoder& decoder) {
  decoder.begin_packet(file.subspan(offset), offset);
  if (metadata.packet_header) decoder.read(*metadata.packet_header, nullptr);
  const RoleValues& roles = decoder.roles;
  if (roles.magic.value_or(kPacketMagic) != kPacketMagic)
    throw Error(fmt::format("the packet at offset {:#x} does not start with the magic number of CTF", offset));
  if (roles.uuid && roles.uuid != metadata.uuid)
    throw Error(fmt::format("the packet at offset {:#x} has the UUID of another trace", offset));
  const auto found = metadata.streams.find(roles.stream_class);
  if (found == metadata.streams.end())
    throw Error(
        fmt::format("the packet at offset {:#x} has the unknown data stream class {}", offset, roles.stream_class));
  return found->second;
}

PacketStart read_packet_context(const JsonStreamClass& stream_class, Bytes file, std::uint64_t offset,
                                FieldDecoder& decoder, bt_field* out) {
  if (stream_class.packet_context) decoder.read(*stream_class.packet_context, out);
  const RoleValues& roles = decoder.roles;
  const std::uint64_t bits_left = (file.size() - offset) * 8;
  const std::uint64_t total = roles.total_bits.value_or(roles.content_bits.value_or(bits_left));
  const std::uint64_t content = roles.content_bits.value_or(total);
  if (content > total || content < decoder.in.at() || total % 8 != 0)
    throw Error(
        fmt::format("the packet at offset {:#x} has an impossible size: {} of {} bits", offset, content, total));
  PacketStart start{&stream_class, std::min(content, bits_left), std::min(total, bits_left) / 8, total > bits_left};
  decoder.in.end_after(start.content_bits);
  return start;
}

std::vector<StreamFiles> streams_in(const JsonMetadata& metadata, const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<StreamFiles> streams;
  for (const std::string& folder : folders)
    for (const std::string& name : names_in(folder)) {
      const std::string path = (fs::path(folder) / name).string();
      if (name != "metadata" && name.front() != '.' && fs::is_regular_file(path)) add_file(metadata, path, streams);
    }
  for (StreamFiles& stream : streams) std::ranges::stable_sort(stream.files, {}, &StreamFile::first_time);
  return streams;
}

std::optional<TimeRange> time_range_of(const JsonMetadata& metadata, const std::vector<StreamFiles>& streams) {
  std::optional<TimeRange> all;
  FieldDecoder decoder(metadata.slots);
  for (const StreamFiles& stream : streams) {
    for (const StreamFile& part : stream.files) try {
        const Bytes file = part.file->bytes();
        for (std::uint64_t at = 0; at < file.size();) {
          const JsonStreamClass& stream_class = read_packet_header(metadata, file, at, decoder);
          at += read_packet_context(stream_class, file, at, decoder, nullptr).total_bytes;
          if (!stream_class.clock) continue;
          if (decoder.roles.has_clock) include(all, *stream_class.clock, decoder.roles.clock);
          if (decoder.roles.end_time) include(all, *stream_class.clock, *decoder.roles.end_time);
        }
      } catch (const Error&) {
        continue;  // JsonStream reports the damage when it reads the stream
      }
  }
  return all;
}

}  // namespace kmt::ctf
