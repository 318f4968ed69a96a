// SPDX-License-Identifier: GPL-2.0-or-later
// Records into .kmt: one file, a sequence of files, or a flight recorder. A flight recorder keeps the latest blocks in
// memory and writes a file when asked.
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

// Limits of the files in a sequence.
struct Rotation {
  std::optional<std::uint64_t> bytes;
  std::optional<double> seconds;
  unsigned keep = 0;  // number of latest files to keep; 0: keep all
};

struct Flight {
  std::uint64_t bytes = 0;  // maximum memory
  std::optional<std::uint64_t> time_ns;
};

// Turns "trace.kmt" into "trace.0001.kmt".
std::string numbered_path(const std::string& path, unsigned number);
// Returns the largest number of an existing file, or 0 if there is none.
unsigned last_number(const std::string& path);

class Recording {
 public:
  // Give at most one of `rotation` and `flight`.
  Recording(std::string path, KernelDescription kernel, const std::vector<unsigned>& cpus,
            std::optional<Rotation> rotation, std::optional<Flight> flight);

  LiveEncoder& encoder() { return encoder_; }  // the sink for the ring-buffer pages
  const LiveEncoder& encoder() const { return encoder_; }
  void add(const StateSample& sample);
  // Call this only if the recording has one file. In a sequence, every file would need all mappings.
  void add(UserMemory memory);
  // Call this regularly. Starts the next file if the current one is full, or writes the file that was requested from
  // the flight recorder. `now` returns the current description of the machine. Returns the path if a file was
  // completed. Throws Error.
  std::optional<std::string> turn(double seconds, const std::function<TraceDescription()>& now);
  // Requests a numbered file from the flight recorder. One of the next calls of turn() writes it.
  void ask_for_file();
  // Writes the remaining data. Call this after the last pages. Returns the path of the last file. Throws Error.
  std::string finish(const TraceDescription& end);

  std::uint64_t bytes() const;  // size of all files, or of the flight recorder's memory
  // True if a flight recorder dropped blocks younger than its time limit because of the memory limit.
  bool was_short_of_memory() const { return flight_ && flight_->was_short_of_memory(); }
  unsigned files_written() const { return files_written_; }
  unsigned files_removed() const { return files_removed_; }
  FlightStore::Written last_file() const { return last_file_; }  // counts events of the last file of a flight recorder

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
  std::deque<std::string> kept_files_;  // files of a sequence, oldest first
  double file_begun_ = 0;               // start time of the current file, in seconds
  unsigned numbers_used_ = 0;
  unsigned files_written_ = 0;
  unsigned files_removed_ = 0;
  FlightStore::Written last_file_;
  // turn() completes a file in two calls. The first call asks the encoder to store the blocks that it has started. The
  // next call completes the file.
  enum class Asked : std::uint8_t { no, yes, blocks_come } asked_ = Asked::no;
};

}  // namespace kmt::kmt_format
