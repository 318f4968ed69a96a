// SPDX-License-Identifier: GPL-2.0-or-later
// Stores of the blocks of a running recording: a file, a sequence of files, or memory until a file is requested.
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
  // Callable from any thread. Throws Error if the block cannot be stored; it stays queued and is tried again.
  virtual void add(PackedBlock block) = 0;
};

// A growing .kmt file. It appears, and replaces an older one, with the first block or at the end.
class FileStore : public BlockStore {
 public:
  // `begin`: the first chunks of every file.
  FileStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  void add(UserMemory memory);
  // Completes the current file, if any, with `end`; later blocks go to a file of that name.
  void next_file(const std::string& path, const TraceDescription& end);
  void finish(const TraceDescription& end);

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;      // of the current file, without the first chunks
  std::uint64_t all_bytes() const;  // of all files so far

 private:
  void open();
  void write_waiting();
  void complete(const TraceDescription& end);

  std::vector<PackedChunk> begin_;
  std::vector<RecordStream> streams_;
  mutable std::mutex mutex_;
  std::string path_;
  std::unique_ptr<FileWriter> file_;
  std::uint64_t begin_bytes_ = 0;      // of the current file
  std::uint64_t completed_bytes_ = 0;  // of the files before
  std::vector<PackedBlock> waiting_;   // not yet written
  std::vector<StateSample> samples_;   // likewise
  UserMemoryParts user_memory_;        // likewise
};

// The latest blocks in memory, and samples of the same time.
class FlightStore : public BlockStore {
 public:
  // Keeps at most this many bytes, and if given, nothing older than this many ticks. During a write, the blocks being
  // written stay in memory besides new ones.
  FlightStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams, std::uint64_t most_bytes,
              std::optional<std::uint64_t> most_ticks);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  struct Written {
    std::uint64_t events = 0;
    std::uint64_t left_out = 0;  // the oldest: the disk was full
  };
  // Writes the blocks kept now, while recording may continue. If the disk is too small, it writes the latest half, or a
  // half of that. Throws Error and leaves an older file then.
  Written write(const std::string& path, const TraceDescription& end) const;

  std::uint64_t bytes() const;
  // True if blocks within the time were dropped because of the memory limit.
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
  Blocks blocks_;            // in order of completion
  std::uint64_t bytes_ = 0;  // of blocks and samples
  std::uint64_t newest_ticks_ = 0;
  bool was_short_of_memory_ = false;
  std::deque<PackedChunk> samples_;
};

}  // namespace kmt::kmt_format
