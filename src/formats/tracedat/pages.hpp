// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the ring-buffer pages of one CPU in order, from plain or compressed data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/tracedat/file.hpp"

namespace kmt::tracedat {

// Limits the unpacked data of a trace, because a damaged file may state many CPUs and large chunks. `most` limits the
// chunks that are in memory at the same time, one for each CPU. `left` limits the sum of all chunks. For comparison: a
// long series of equal events is compressed to one fiftieth.
struct UnpackedMemory {
  explicit UnpackedMemory(std::uint64_t file_bytes)
      : most(std::max<std::uint64_t>(64u << 20, 64 * file_bytes)),
        left(std::max<std::uint64_t>(64u << 20, 128 * file_bytes)) {}

  std::uint64_t most;
  std::uint64_t used = 0;
  std::uint64_t left;
};

class Pages {
 public:
  // Borrows the file's bytes, the contents and `memory`.
  Pages(Bytes file, const FileContents& contents, const BufferData& buffer, const CpuData& data,
        UnpackedMemory& memory);

  // Reads the next page; returns false at the end. The page is valid until the next call. The last page may be
  // incomplete. Throws Error if a compressed chunk is damaged; the next call then returns false, because later chunks
  // cannot be found.
  bool next(Bytes& page);
  // Returns the file offset of the last page. For compressed data, this is the offset of its chunk.
  std::uint64_t offset() const { return page_offset_; }
  std::uint64_t consumed() const { return reader_.position(); }  // number of bytes of the CPU's data read so far

 private:
  bool next_chunk();
  void free_chunk();

  const std::string& compression_;
  UnpackedMemory& memory_;
  const bool compressed_;
  const std::uint64_t page_size_;
  ByteReader reader_;
  std::uint32_t chunks_left_ = 0;
  std::vector<std::uint8_t> chunk_;
  std::uint64_t chunk_position_ = 0;
  std::uint64_t page_offset_ = 0;
};

}  // namespace kmt::tracedat
