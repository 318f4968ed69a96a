// SPDX-License-Identifier: GPL-2.0-or-later
// The layout is ctf_packet_index_file_hdr and ctf_packet_index from lttng-tools, major version 1
// (include/lttng/lttng-index-abi.h in 2.13). All numbers are big-endian; packet sizes are in bits. Later minor versions
// have longer entries, whose additional fields are not needed.
#include "formats/ctf/stream_index.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/error.hpp"

namespace kmt::ctf {

namespace {

constexpr std::uint32_t kMagic = 0xC1F1DCC1;
constexpr std::size_t kHeaderBytes = 16;  // magic, major, minor, entry size
constexpr std::size_t kEntryBytes = 56;   // size of an entry in minor version 0; later versions append fields
constexpr std::size_t kOffset = 0, kPacketBits = 8, kDiscarded = 40, kStreamClass = 48;
constexpr std::size_t kStream = 56, kSequence = 64, kEndOfSequence = 72;  // since minor version 1

bool is_index(Bytes index) {
  const auto word = [index](std::size_t at) { return load<std::uint32_t>(index.data() + at, ByteOrder::big); };
  return index.size() >= kHeaderBytes && word(0) == kMagic && word(4) == 1 && word(12) >= kEntryBytes;
}

std::size_t entry_bytes_of(Bytes index) { return load<std::uint32_t>(index.data() + 12, ByteOrder::big); }

std::uint64_t number_at(Bytes entry, std::size_t at) { return load<std::uint64_t>(entry.data() + at, ByteOrder::big); }

}  // namespace

std::optional<CutOff> cut_off_by_index(Bytes index, std::uint64_t stream_bytes) {
  if (index.empty()) return std::nullopt;
  if (!is_index(index)) throw Error("it is not an LTTng index of a known version");
  const std::size_t entry_bytes = entry_bytes_of(index);
  CutOff cut;
  // Value of the counter in the last complete packet. The counter in each entry includes all events discarded so far.
  std::uint64_t discarded = 0;
  for (Bytes rest = index.subspan(kHeaderBytes); rest.size() >= entry_bytes; rest = rest.subspan(entry_bytes)) {
    const std::uint64_t offset = number_at(rest, kOffset), bytes = number_at(rest, kPacketBits) / 8;
    const std::uint64_t counted = number_at(rest, kDiscarded);
    ++cut.packets;
    if (offset <= stream_bytes && bytes <= stream_bytes - offset) {
      discarded = counted;
      continue;
    }
    if (cut.missing++ == 0) cut.offset = offset;
    cut.discarded = counted > discarded ? counted - discarded : 0;
  }
  return cut.missing > 0 ? std::optional(cut) : std::nullopt;
}

void add_earlier_packets(Bytes index, EarlierPackets& earlier) {
  if (!is_index(index) || entry_bytes_of(index) < kEndOfSequence || index.size() < kHeaderBytes + kEndOfSequence)
    return;
  const Bytes first = index.subspan(kHeaderBytes);
  const std::uint64_t sequence = number_at(first, kSequence);
  const auto [stream, is_new] =
      earlier.try_emplace({number_at(first, kStreamClass), number_at(first, kStream)}, sequence);
  if (!is_new) stream->second = std::min(stream->second, sequence);
}

std::string to_string(const CutOff& cut) {
  return fmt::format(
      "{} of the {} packets in its index are missing or incomplete, from offset {:#x} on, with {} discarded events",
      cut.missing, cut.packets, cut.offset, cut.discarded);
}

}  // namespace kmt::ctf
