// SPDX-License-Identifier: GPL-2.0-or-later
// The layout is ctf_packet_index_file_hdr and ctf_packet_index from lttng-tools, major version 1
// (include/lttng/lttng-index-abi.h in 2.13). All numbers are big-endian; packet sizes are in bits. Later minor versions
// have longer entries, whose additional fields are not needed.
#include "formats/ctf/stream_index.hpp"

#include <fmt/format.h>

#include "base/endian.hpp"
#include "base/error.hpp"

namespace kmt::ctf {

namespace {

constexpr std::uint32_t kMagic = 0xC1F1DCC1;
constexpr std::size_t kHeaderBytes = 16;  // magic, major, minor, entry size
constexpr std::size_t kEntryBytes = 56;   // size of an entry in minor version 0; later versions append fields
constexpr std::size_t kOffset = 0, kPacketBits = 8, kDiscarded = 40;

}  // namespace

std::optional<CutOff> cut_off_by_index(Bytes index, std::uint64_t stream_bytes) {
  if (index.empty()) return std::nullopt;
  const auto word = [index](std::size_t at) { return load<std::uint32_t>(index.data() + at, ByteOrder::big); };
  if (index.size() < kHeaderBytes || word(0) != kMagic || word(4) != 1 || word(12) < kEntryBytes)
    throw Error("it is not an LTTng index of a known version");
  const std::size_t entry_bytes = word(12);
  CutOff cut;
  // Value of the counter in the last complete packet. The counter in each entry includes all events discarded so far.
  std::uint64_t discarded = 0;
  for (Bytes rest = index.subspan(kHeaderBytes); rest.size() >= entry_bytes; rest = rest.subspan(entry_bytes)) {
    const auto number = [rest](std::size_t at) { return load<std::uint64_t>(rest.data() + at, ByteOrder::big); };
    const std::uint64_t offset = number(kOffset), bytes = number(kPacketBits) / 8;
    ++cut.packets;
    if (offset <= stream_bytes && bytes <= stream_bytes - offset) {
      discarded = number(kDiscarded);
      continue;
    }
    if (cut.missing++ == 0) cut.offset = offset;
    cut.discarded = number(kDiscarded) > discarded ? number(kDiscarded) - discarded : 0;
  }
  return cut.missing > 0 ? std::optional(cut) : std::nullopt;
}

std::string to_string(const CutOff& cut) {
  return fmt::format(
      "{} of the {} packets in its index are missing or incomplete, from offset {:#x} on, with {} discarded events",
      cut.missing, cut.packets, cut.offset, cut.discarded);
}

}  // namespace kmt::ctf
