// SPDX-License-Identifier: GPL-2.0-or-later
// The output of a recording: a trace.dat is written at the end, a .kmt during the recording.
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

// Disk space for the last writes, reserved at the start: a full disk then still leaves a readable trace.
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

  // Returns the sink of pages or records; nullptr: the recorder keeps them. Throws Error.
  RecordingSink* open(const KernelDescription& kernel, const std::vector<unsigned>& cpus);
  void add(const StateSample& sample);  // of an open .kmt
  void add(UserMemory memory);          // likewise, if is_one_file()
  bool is_one_file() const;             // a .kmt without rotation or flight recorder
  // Called four times per second: for files in rotation, and requested files of a flight recorder.
  void turn(const RecordProgress& progress, const std::function<RawRecording()>& recording);
  // Writes the rest. Throws Error.
  WrittenTrace finish(RecordOutcome& outcome);

  std::uint64_t bytes(const RecordProgress& progress) const;  // of trace so far
  bool saw_failed_allocation() const;
  bool is_flight_recorder() const { return flight_.has_value(); }
  // Why a file of a rotation could not be completed: recording should end.
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
