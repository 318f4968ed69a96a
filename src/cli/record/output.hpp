// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the output of a recording. A trace.dat file is written at the end, and a .kmt file during the recording.
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

// Reserves disk space at the start of a recording. The last writes then succeed even if the disk is full, so the trace
// is readable.
class Reserve {
 public:
  void take(const std::string& directory, std::uint64_t bytes);  // throws Error
  void release() { file_.reset(); }

 private:
  FileDescriptor file_;
};

class RecordOutput {
 public:
  // Prepares the output. Throws Error if options conflict.
  RecordOutput(const RecordOptions& options, const RecordRequest& request);

  // Returns the sink for pages or records. Returns nullptr if the recorder must keep them until the end. Throws Error.
  RecordingSink* open(KernelDescription& kernel, const std::vector<unsigned>& cpus);
  void add(const StateSample& sample);  // call it only for a .kmt file that is open
  void add(UserMemory memory);          // call it only if is_one_file() is true
  bool is_one_file() const;             // true for a .kmt file without rotation and without a flight recorder
  // Starts a new file of a rotation when it is time. Writes the file of a flight recorder when it is requested. Call it
  // four times per second.
  void turn(const RecordProgress& progress, const std::function<RawRecording()>& recording);
  // Writes the rest of the trace. Throws Error.
  WrittenTrace finish(RecordOutcome& outcome);

  std::uint64_t bytes(const RecordProgress& progress) const;  // returns the number of bytes of the trace so far
  bool saw_failed_allocation() const;
  bool is_flight_recorder() const { return flight_.has_value(); }
  // Returns the reason why a file of a rotation could not be completed. If the reason is not empty, the recording
  // should end.
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
