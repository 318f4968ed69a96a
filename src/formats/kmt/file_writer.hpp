// SPDX-License-Identifier: GPL-2.0-or-later
// Writes a .kmt file chunk by chunk. Complete chunks stay readable even if a later write fails; a partly written chunk
// is removed. finish() adds the index, which marks the file complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/new_file.hpp"
#include "formats/kmt/chunk.hpp"
#include "formats/kmt/description.hpp"
#include "formats/kmt/index.hpp"
#include "formats/kmt/packed_block.hpp"
#include "trace/code/user_memory.hpp"

namespace kmt::kmt_format {

// Packs the chunks at the start of a file, except those of its streams.
std::vector<PackedChunk> pack_description(const TraceDescription& description);

PackedChunk pack_symbols(const TraceDescription& description);

class FileWriter {
 public:
  // The file gets its name, and replaces an older file, when publish() or finish() is called. All methods throw Error.
  // `features` are those that a reader must support: kFeatureSteps if the file will have blocks of events.
  explicit FileWriter(const std::string& path, Replaced replaced = Replaced::removed, std::uint32_t features = 0);

  void append_description(const TraceDescription& description);
  void append(const PackedChunk& chunk);
  // Writes facts that are known only at the end of the recording. They replace facts of the description.
  void append_end(const TraceDescription& description);
  void append_sample(const StateSample& sample);
  void append_user_memory(const UserMemory& memory);        // call this in order of time
  std::uint16_t append_stream(const RecordStream& stream);  // returns the number of the stream
  void append(const PackedBlock& block);
  void publish() { file_.finish(); }  // gives the growing file its name
  void finish();

  std::uint64_t bytes() const { return size_; }

 private:
  void write_whole(const std::vector<std::uint8_t>& bytes);

  NewFile file_;
  std::uint64_t size_ = 0;
  std::uint16_t streams_ = 0;
  Index index_;
};

}  // namespace kmt::kmt_format
