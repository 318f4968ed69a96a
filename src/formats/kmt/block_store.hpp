// SPDX-License-Identifier: GPL-2.0-or-later
// Where the blocks of a recording go while it runs: into a file, into one file after the other, or into memory until
// somebody asks for them.
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
  // From any thread. Throws Error when the block cannot be stored; it is kept all the same and tried again.
  virtual void add(PackedBlock block) = 0;
};

// A .kmt file that grows. It appears, and replaces an older one, with the first block or at the end.
class FileStore : public BlockStore {
 public:
  // `begin`: what every file begins with.
  FileStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  void add(UserMemory memory);
  // Completes the file so far, if there is one, with what `end` says; what comes next goes into a file of that name.
  void next_file(const std::string& path, const TraceDescription& end);
  void finish(const TraceDescription& end);

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const;      // of the current file, without what every file begins with
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
  std::uint64_t completed_bytes_ = 0;  // of those before
  std::vector<PackedBlock> waiting_;   // could not be written yet
  std::vector<StateSample> samples_;   // likewise
  UserMemoryParts user_memory_;        // likewise
};

// The latest blocks in memory, and samples of the same time.
class FlightStore : public BlockStore {
 public:
  // Keeps at most so many bytes, and of those what is not older than so many ticks, if that is said. While a file is
  // written, what it holds is kept beside what comes meanwhile.
  FlightStore(std::vector<PackedChunk> begin, std::vector<RecordStream> streams, std::uint64_t most_bytes,
              std::optional<std::uint64_t> most_ticks);

  void add(PackedBlock block) override;
  void add(const StateSample& sample);
  struct Written {
    std::uint64_t events = 0;
    std::uint64_t left_out = 0;  // the oldest: the disk was full
  };
  // Writes what is kept now; recording may go on meanwhile. Where the disk has not enough room, the latest half of it,
  // or a half of that. Throws Error, and leaves no file then.
  Written write(const std::string& path, const TraceDescription& end) const;

  std::uint64_t bytes() const;
  // Blocks were dropped because of the bytes that would have been kept by time.
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
  Blocks blocks_;            // as they were finished
  std::uint64_t bytes_ = 0;  // of blocks and samples
  std::uint64_t newest_ticks_ = 0;
  bool was_short_of_memory_ = false;
  std::deque<PackedChunk> samples_;
};

}  // namespace kmt::kmt_format
