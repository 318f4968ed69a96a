// SPDX-License-Identifier: GPL-2.0-or-later
// Passes on a trace as raw records, one CPU after the other. Conversions use this, so they also keep data that
// kmemtrace does not interpret.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/byte_reader.hpp"
#include "formats/trace_description.hpp"
#include "formats/trace_file.hpp"

namespace kmt {

struct RecordStream {
  unsigned cpu = 0;
  std::string buffer;            // "" is the top-level buffer
  std::uint32_t page_bytes = 0;  // page size of the ring buffer
  bool goes_on = false;          // true if an earlier stream has earlier records of this CPU and buffer
};

// Receives a trace. The call order is describe(), then for each stream: begin_stream(), its records and losses in
// order, end_stream().
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void describe(const TraceDescription& description) = 0;
  virtual void begin_stream(const RecordStream& stream) = 0;
  virtual void record(std::uint64_t ticks, Bytes record) = 0;  // `ticks` is the time on the trace's clock
  // Reports a loss of events at this position. `count` is empty if the number of lost events is unknown.
  virtual void lost(std::optional<std::uint64_t> count) = 0;
  virtual void end_stream() = 0;
};

// Passes the whole trace to the sink. Skips damaged parts, which become findings. Throws Error.
void read_records(const TraceFile& file, const OpenOptions& options, RecordSink& sink, Findings& findings);
void read_records(const std::string& path, const OpenOptions& options, RecordSink& sink, Findings& findings);

}  // namespace kmt
