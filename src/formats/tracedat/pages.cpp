// SPDX-License-Identifier: GPL-2.0-or-later
#include "formats/tracedat/pages.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic/size.hpp"
#include "base/error.hpp"
#include "formats/tracedat/decompress.hpp"

namespace kmt::tracedat {

Pages::Pages(Bytes file, const FileContents& contents, const BufferData& buffer, const CpuData& data,
             UnpackedMemory& memory)
    : compression_(contents.compression),
      memory_(memory),
      compressed_(buffer.compressed),
      page_size_(buffer.page_size),
      reader_(file.subspan(to_size(data.offset), to_size(data.size)), contents.order(), data.offset) {
  if (compressed_ && reader_.remaining() >= 4) chunks_left_ = reader_.u32();
}

void Pages::free_chunk() {
  memory_.used -= chunk_.size();
  chunk_ = {};
}

bool Pages::next_chunk() {
  free_chunk();
  if (chunks_left_ == 0) return false;
  page_offset_ = reader_.file_offset();
  // Set chunks_left_ to 0 while the chunk is read. If reading throws, it stays 0, so that no further chunk is read.
  const std::uint32_t left = std::exchange(chunks_left_, 0);
  try {
    const std::uint32_t packed = reader_.u32();
    const std::uint32_t unpacked = reader_.u32();
    if (unpacked > std::min(memory_.most - memory_.used, memory_.left))
      throw Error("Refusing to unpack more than a file of this size can need");
    chunk_ = decompress(compression_, reader_.bytes(packed), unpacked);
    memory_.used += chunk_.size();
    memory_.left -= chunk_.size();
  } catch (Error& error) {
    throw error.at({{}, {}, page_offset_});
  }
  chunk_position_ = 0;
  chunks_left_ = left - 1;
  return true;
}

bool Pages::next(Bytes& page) {
  if (!compressed_) {
    if (reader_.remaining() == 0) return false;
    page_offset_ = reader_.file_offset();
    page = reader_.bytes(std::min(page_size_, reader_.remaining()));
    return true;
  }
  while (chunk_position_ >= chunk_.size())
    if (!next_chunk()) return false;
  const std::uint64_t size = std::min<std::uint64_t>(page_size_, chunk_.size() - chunk_position_);
  page = Bytes(chunk_).subspan(to_size(chunk_position_), to_size(size));
  chunk_position_ += size;
  return true;
}

}  // namespace kmt::tracedat
