// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a CTF trace to raw records, and raw records to a CTF trace. docs/formats/ctf.md describes the written trace.
#pragma once

#include <memory>
#include <string>

#include "formats/record_stream.hpp"

namespace kmt::ctf {

// Reads the trace twice, because task names are complete only at the end.
void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

// Writes a new folder, which is complete after finish(). Rejects traces with instances, because the output has only one
// ring buffer.
class RecordWriter : public RecordSink {
 public:
  // Data that cannot be written as events becomes findings.
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
