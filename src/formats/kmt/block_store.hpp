// SPDX-License-Identifier: GPL-2.0-or-later
// Stores the blocks of a running recording: in a file, in a sequence of files, or in memory until the user requests a
// file.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "formats/kmt/file_writer.hpp"
#include "formats/kmt/packed_block.hpp"
#include "trace/code/user_memory_parts.hpp"

namespace kmt::kmt_format {

class BlockStore {
 public:
  virtual ~BlockStore() = default;
  // Stores a block. May be called from any thread. Throws Error if the block cannot be stored. The block then stays
  // queued for the next attempt.
  virtual void add(PackedBlock block) = 0;
};

// Stores blocks in a growing .kmt file. The file gets its name, and replaces an older file, when the first block is
// written, at the latest at the end.
class FileStore : public BlockStore {
 public:
  // `begin` has the first chunks of every file.
  FileStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  void add(UserMemory memory);
  // Completes the current file, if there is one, with the description `end`. Later blocks are written to a file with
  // the given path.
  void next_file(const std::string& path, const TraceDescription& end);
  void finish(const TraceDescription& end);

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;      // size of the current file without the chunks in `begin`, in bytes
  std::uint64_t all_bytes() const;  // total size of all files, in bytes

 private:
  void open();
  void write_waiting();
  void complete(const TraceDescription& end);

  std::vector<PackedChunk> begin_;
  std::vector<RecordStream> streams_;
  mutable std::mutex mutex_;
  std::string path_;
  std::unique_ptr<FileWriter> file_;
  std::uint64_t begin_bytes_ = 0;      // size of the current file's first chunks
  std::uint64_t completed_bytes_ = 0;  // size of the completed files
  std::vector<PackedBlock> waiting_;   // blocks not yet written
  std::vector<StateSample> samples_;   // samples not yet written
  UserMemoryParts user_memory_;        // mappings not yet written
};

// Keeps the latest blocks in memory, and the samples of the time that these blocks cover.
class FlightStore : public BlockStore {
 public:
  // Keeps at most `most_bytes` bytes, but at least the newest block. If `most_ticks` is set, also drops blocks that are
  // older than this number of ticks. While write() runs, the blocks that it writes stay in memory in addition to new
  // blocks.
  FlightStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams, std::uint64_t most_bytes,
              std::optional<std::uint64_t> most_ticks);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  struct Written {
    std::uint64_t events = 0;
    std::uint64_t omitted = 0;  // number of oldest events that were dropped because the disk was full
  };
  // Writes the blocks that are in memory now to a file. Recording may continue meanwhile. If writing fails, for example
  // on a full disk, tries again with the latest half of the blocks, then with the latest quarter, and so on. If all
  // attempts fail, throws Error; an existing file then stays unchanged.
  Written write(const std::string& path, const TraceDescription& end) const;

  std::uint64_t bytes() const;
  // True if blocks younger than the time limit were dropped because of the memory limit.
  bool was_short_of_memory() const;

 private:
  using Blocks = std::deque<std::shared_ptr<const PackedBlock>>;

  void drop_old();
  void write_to(FileWriter& file, const TraceDescription& end, const Blocks& blocks,
                const std::deque<PackedChunk>& samples) const;

  std::vector<PackedChunk> begin_;
  std::vector<RecordStream> streams_;
  std::uint64_t most_bytes_;
  std::optional<std::uint64_t> most_ticks_;
  mutable std::mutex mutex_;
  Blocks blocks_;            // in the order they were completed
  std::uint64_t bytes_ = 0;  // size of blocks and samples
  std::uint64_t newest_ticks_ = 0;
  bool was_short_of_memory_ = false;
  std::deque<PackedChunk> samples_;
};

}  // namespace kmt::kmt_format
