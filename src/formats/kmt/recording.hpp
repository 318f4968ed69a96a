// SPDX-License-Identifier: GPL-2.0-or-later
// A recording on its way into .kmt: one file, one file after the other, or a flight recorder that keeps the latest
// blocks in memory.
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

// When a file is full, in one way or the other.
struct Rotation {
  std::optional<std::uint64_t> bytes;
  std::optional<double> seconds;
  unsigned keep = 0;  // files, the latest ones; 0: all
};

struct Flight {
  std::uint64_t bytes = 0;  // at most in memory
  std::optional<std::uint64_t> time_ns;
};

// "trace.kmt" becomes "trace.0001.kmt".
std::string numbered_path(const std::string& path, unsigned number);
// The largest number of such a file that is there; 0: none.
unsigned last_number(const std::string& path);

class Recording {
 public:
  // At most one of rotation and flight.
  Recording(std::string path, const KernelDescription& kernel, const std::vector<unsigned>& cpus,
            std::optional<Rotation> rotation, std::optional<Flight> flight);

  LiveEncoder& encoder() { return encoder_; }  // takes the pages
  const LiveEncoder& encoder() const { return encoder_; }
  void add(const StateSample& sample);
  void add(UserMemory memory);  // of a recording that is one file: others need all of it in each
  // Now and then while recording: goes on to the next file, or writes what the flight recorder was asked for. `now`
  // describes the machine as it is. Returns the file that has been completed, if one has. Throws Error.
  std::optional<std::string> turn(double seconds, const std::function<TraceDescription()>& now);
  // A flight recorder writes a numbered file with one of the next turns.
  void ask_for_file();
  // Everything else, when no more pages come; the file written last. Throws Error.
  std::string finish(const TraceDescription& end);

  std::uint64_t bytes() const;  // of all files, or in memory
  // Of a flight recorder: blocks went for want of memory that were not too old.
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
  std::deque<std::string> kept_files_;  // of a rotation, oldest first
  double file_begun_ = 0;               // seconds
  unsigned numbers_used_ = 0;
  unsigned files_written_ = 0;
  unsigned files_removed_ = 0;
  FlightStore::Written last_file_;
  // Blocks that have been begun are asked for, then come; only then a file is whole.
  enum class Asked : std::uint8_t { no, yes, blocks_come } asked_ = Asked::no;
};

}  // namespace kmt::kmt_format
