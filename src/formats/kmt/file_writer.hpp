// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a .kmt file chunk by chunk. What has been appended is readable whatever happens next, and a chunk that could
// not be written whole is taken back; finish() adds the index, which says that the file is complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/kmt/chunk.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/index.hpp"
#include "formats/kmt/packed_block.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt::kmt_format {

// What a file begins with, but for its streams.
std::vector<PackedChunk> pack_description(const TraceDescription& description);

class FileWriter {
 public:
  // Makes the file, or empties it. Throws Error, as every method does.
  explicit FileWriter(const std::string& path);

  void append_description(const TraceDescription& description);
  void append(const PackedChunk& chunk);
  // What is known only when the recording ends; what the description said of it before no longer counts.
  void append_end(const TraceDescription& description);
  void append_sample(const StateSample& sample);
  void append_user_memory(const UserMemory& memory);        // by time
  std::uint16_t append_stream(const RecordStream& stream);  // the stream's number
  void append(const PackedBlock& block);
  void finish();

  std::uint64_t bytes() const { return size_; }

 private:
  void write_whole(const std::vector<std::uint8_t>& bytes);

  std::string path_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
  std::uint16_t streams_ = 0;
  Index index_;
};

}  // namespace kmt::kmt_format
