// SPDX-License-Identifier: GPL-2.0-or-later
// CTF from and to raw records. docs/formats/ctf.md says what is written.
#pragma once

#include <memory>
#include <string>

#include "formats/record_stream.hpp"

namespace kmt::ctf {

// Reads the trace twice: what its tasks are called is known at the end only.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

// Writes a new folder, complete when finish() is called. One ring buffer only: instances are refused.
class RecordWriter : public RecordSink {
 public:
  // What cannot be written as an event becomes a finding.
  RecordWriter(const std::string& folder, Findings& findings);
  ~RecordWriter() override;
  void describe(const TraceDescription& description) override;
  void begin_stream(const RecordStream& stream) override;
  void record(std::uint64_t ticks, Bytes record) override;
  void lost(std::optional<std::uint64_t> count) override;
  void end_stream() override;
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::ctf
