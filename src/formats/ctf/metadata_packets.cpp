// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/ctf/metadata_packets.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"

namespace kmt::ctf {

namespace {

constexpr std::uint64_t kUuidBytes = 16;
constexpr std::uint64_t kHeaderBytes = 37;

std::optional<ByteOrder> order_of(Bytes file) {
  if (file.size() < sizeof kMetadataMagic) return std::nullopt;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    if (load<std::uint32_t>(file.data(), order) == kMetadataMagic) return order;
  return std::nullopt;
}

Error cut_off(std::uint64_t packet, std::uint64_t needed, std::uint64_t there) {
  return Error(fmt::format("The trace's metadata is cut off: of a packet's {} bytes {} are there", needed, there))
      .at({{}, {}, packet})
      .hint("Without all of it nobody knows what the events are: copy the trace again");
}

}  // namespace

void check_metadata_packets(Bytes file) {
  const std::optional<ByteOrder> order = order_of(file);
  if (!order) return;
  for (std::uint64_t at = 0; at < file.size();) {
    const Bytes rest = file.subspan(at);
    if (rest.size() < kHeaderBytes) throw cut_off(at, kHeaderBytes, rest.size());
    ByteReader in(rest, *order, at);
    const std::uint32_t magic = in.u32();
    const Bytes uuid = in.bytes(kUuidBytes);
    in.skip(4);  // checksum
    const std::uint64_t content_bits = in.u32();
    const std::uint64_t packet_bits = in.u32();
    const bool is_of_file = magic == kMetadataMagic && std::ranges::equal(uuid, file.subspan(4, kUuidBytes));
    if (!is_of_file || packet_bits % 8 != 0 || content_bits % 8 != 0 || content_bits < kHeaderBytes * 8 ||
        content_bits > packet_bits)
      throw Error("The trace's metadata is damaged: a packet's header is impossible").at({{}, {}, at});
    if (packet_bits / 8 > rest.size()) throw cut_off(at, packet_bits / 8, rest.size());
    at += packet_bits / 8;
  }
}

}  // namespace kmt::ctf
