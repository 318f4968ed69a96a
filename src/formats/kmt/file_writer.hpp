// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a .kmt file chunk by chunk. What has been appended is readable whatever happens next; finish() adds the
// index, without which a reader has to search.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/kmt/block_encoder.hpp"
#include "formats/kmt/chunk.hpp"
#include "formats/kmt/description.hpp"

namespace kmt::kmt_format {

class FileWriter {
 public:
  // Makes the file, or empties it. Throws Error, as every method does.
  explicit FileWriter(const std::string& path);

  void append_description(const TraceDescription& description);
  std::uint16_t append_stream(const RecordStream& stream);  // the stream's number
  void append_events(std::uint16_t stream, const EventBlock& block);
  void finish();

 private:
  std::uint64_t append(ChunkType type, std::uint16_t stream, const std::vector<std::uint8_t>& plain);

  std::string path_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
  std::uint16_t streams_ = 0;
  std::vector<std::uint8_t> index_;
  std::uint64_t last_offset_ = 0;
};

}  // namespace kmt::kmt_format
