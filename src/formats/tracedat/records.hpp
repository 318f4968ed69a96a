// SPDX-License-Identifier: GPL-2.0-or-later
// Converts trace.dat from and to raw records.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "formats/record_stream.hpp"

namespace kmt::tracedat {

void read_records(const TraceFile& file, RecordSink& sink, Findings& findings);

// Writes a trace.dat when finish() is called. Rejects traces with instances, because the output has only one ring
// buffer.
class RecordWriter : public RecordSink {
 public:
  // Data that cannot be written becomes findings.
  RecordWriter(const std::string& path, unsigned version, Findings& findings);
  ~RecordWriter() override;
  void describe(const TraceDescription& description) override;
  void begin_stream(const RecordStream& stream) override;
  void record(std::uint64_t ticks, Bytes record) override;
  void lost(std::optional<std::uint64_t> count) override;
  void end_stream() override;
  void finish();
  // Data about the recording that a trace.dat cannot store, as text for the user. The events are not affected. Valid
  // after describe().
  const std::vector<std::string>& not_stored() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kmt::tracedat
