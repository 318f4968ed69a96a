// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the output of a recording. A trace.dat is written at the end, a .kmt during the recording.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "capture/session/recording.hpp"
#include "cli/record/messages.hpp"
#include "cli/record/request.hpp"
#include "formats/kmt/recording.hpp"

namespace kmt {

// Reserves disk space for the last writes at the start, so that the trace is readable even if the disk becomes full.
class Reserve {
 public:
  void take(const std::string& directory, std::uint64_t bytes);  // throws Error
  void release() { file_.reset(); }

 private:
  FileDescriptor file_;
};

class RecordOutput {
 public:
  // Throws Error if options conflict.
  RecordOutput(const RecordOptions& options, const RecordRequest& request);

  // Returns the sink for pages or records. Returns nullptr if the recorder must keep them. Throws Error.
  RecordingSink* open(const KernelDescription& kernel, const std::vector<unsigned>& cpus);
  void add(const StateSample& sample);  // only for an open .kmt
  void add(UserMemory memory);          // only if is_one_file()
  bool is_one_file() const;             // true for a .kmt without rotation and flight recorder
  // Called four times per second. Starts new files in a rotation, and writes requested files of a flight recorder.
  void turn(const RecordProgress& progress, const std::function<RawRecording()>& recording);
  // Writes the rest of the trace. Throws Error.
  WrittenTrace finish(RecordOutcome& outcome);

  std::uint64_t bytes(const RecordProgress& progress) const;  // bytes of the trace so far
  bool saw_failed_allocation() const;
  bool is_flight_recorder() const { return flight_.has_value(); }
  // Returns the reason why a file of a rotation could not be completed. If not empty, the recording should end.
  const std::string& failure() const { return failure_; }

 private:
  const RecordOptions& options_;
  std::string directory_;
  std::optional<kmt_format::Rotation> rotation_;
  std::optional<kmt_format::Flight> flight_;
  Reserve reserve_;
  std::optional<kmt_format::Recording> recording_;
  std::string failure_;
};

}  // namespace kmt
