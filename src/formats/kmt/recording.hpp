// SPDX-License-Identifier: GPL-2.0-or-later
// A recording into .kmt: one file, a sequence of files, or a flight recorder, which keeps the latest blocks in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/kmt/block_store.hpp"
#include "formats/kmt/live_encoder.hpp"

namespace kmt::kmt_format {

// The limits of a file of a sequence.
struct Rotation {
  std::optional<std::uint64_t> bytes;
  std::optional<double> seconds;
  unsigned keep = 0;  // number of latest files to keep; 0: all
};

struct Flight {
  std::uint64_t bytes = 0;  // at most in memory
  std::optional<std::uint64_t> time_ns;
};

// "trace.kmt" becomes "trace.0001.kmt".
std::string numbered_path(const std::string& path, unsigned number);
// Returns the largest number of an existing file; 0: none.
unsigned last_number(const std::string& path);

class Recording {
 public:
  // At most one of rotation and flight.
  Recording(std::string path, const KernelDescription& kernel, const std::vector<unsigned>& cpus,
            std::optional<Rotation> rotation, std::optional<Flight> flight);

  LiveEncoder& encoder() { return encoder_; }  // takes the pages
  const LiveEncoder& encoder() const { return encoder_; }
  void add(const StateSample& sample);
  void add(UserMemory memory);  // for a recording of one file: in a sequence, each file needs all mappings
  // Call it regularly: continues in the next file, or writes the flight recorder's requested file. `now` describes the
  // machine. Returns the completed file, if any. Throws Error.
  std::optional<std::string> turn(double seconds, const std::function<TraceDescription()>& now);
  // Requests a numbered file of the flight recorder, written by one of the next turns.
  void ask_for_file();
  // Writes the rest after the last pages. Returns the last file. Throws Error.
  std::string finish(const TraceDescription& end);

  std::uint64_t bytes() const;  // of all files, or in memory
  // True if a flight recorder dropped blocks within its time because of the memory limit.
  bool was_short_of_memory() const { return flight_ && flight_->was_short_of_memory(); }
  unsigned files_written() const { return files_written_; }
  unsigned files_removed() const { return files_removed_; }
  FlightStore::Written last_file() const { return last_file_; }  // of a flight recorder

 private:
  bool is_full(double seconds) const;
  std::optional<std::string> rotate(double seconds, const std::function<TraceDescription()>& now);
  std::string next_path() { return numbered_path(path_, ++numbers_used_); }
  void remove_old_files();

  std::string path_;
  std::optional<Rotation> rotation_;
  std::unique_ptr<FileStore> file_;
  std::unique_ptr<FlightStore> flight_;
  LiveEncoder encoder_;
  std::deque<std::string> kept_files_;  // of a sequence, oldest first
  double file_begun_ = 0;               // seconds
  unsigned numbers_used_ = 0;
  unsigned files_written_ = 0;
  unsigned files_removed_ = 0;
  FlightStore::Written last_file_;
  // A file is complete only after the begun blocks were requested and have come.
  enum class Asked : std::uint8_t { no, yes, blocks_come } asked_ = Asked::no;
};

}  // namespace kmt::kmt_format
