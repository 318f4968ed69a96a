// SPDX-License-Identifier: GPL-2.0-or-later
// The ring-buffer pages of one CPU, one after the other, from plain or compressed data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/tracedat/file.hpp"

namespace kmt::tracedat {

// How much unpacked data the CPUs of one trace may hold at the same time: each holds a chunk, and a damaged file may
// have many CPUs and announce large chunks.
struct UnpackedMemory {
  explicit UnpackedMemory(std::uint64_t file_bytes) : most(std::max<std::uint64_t>(64u << 20, 64 * file_bytes)) {}

  std::uint64_t most;
  std::uint64_t used = 0;
};

class Pages {
 public:
  // The file's bytes, the contents and the account of memory are borrowed.
  Pages(Bytes file, const FileContents& contents, const BufferData& buffer, const CpuData& data,
        UnpackedMemory& memory);

  // The next page; its bytes are valid until the next call. The last one may be cut short by the end of the data.
  // False at the end. Throws Error at a damaged compressed chunk; what follows it cannot be found, so that is the end.
  bool next(Bytes& page);
  // Where the page that next() gave is: its offset in the file, of its chunk when compressed.
  std::uint64_t offset() const { return page_offset_; }
  std::uint64_t consumed() const { return reader_.position(); }  // of the CPU's bytes in the file

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
