// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/kmt/index.hpp"

#include "base/varint.hpp"
#include "formats/kmt/chunk.hpp"

namespace kmt::kmt_format {

void Index::add(std::uint64_t offset, std::uint8_t type, std::uint16_t stream) {
  if (too_large_) return;
  append_varint(bytes_, offset - last_offset_);
  last_offset_ = offset;
  bytes_.push_back(type);
  append_varint(bytes_, stream);
}

void Index::add_events(std::uint64_t events, std::uint64_t first_ticks, std::uint64_t last_ticks) {
  if (too_large_) return;
  append_varint(bytes_, events);
  append_varint(bytes_, first_ticks);
  append_varint(bytes_, last_ticks - first_ticks);
  too_large_ = bytes_.size() > kMostBytes;
  if (too_large_) std::vector<std::uint8_t>().swap(bytes_);
}

std::vector<std::uint8_t> Index::end_of_file(std::uint64_t offset) const {
  std::vector<std::uint8_t> end = make_chunk(kIndex, 0, bytes_);
  const std::size_t trailer = end.size();
  end.resize(trailer + kTrailerBytes);
  store(end.data() + trailer, offset, ByteOrder::little);
  kTrailerMagic.copy(reinterpret_cast<char*>(end.data()) + trailer + 8, kTrailerMagic.size());
  return end;
}

}  // namespace kmt::kmt_format
