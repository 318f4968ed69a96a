// SPDX-License-Identifier: GPL-2.0-or-later
// A trace as its raw records, CPU by CPU, so that conversion keeps what kmemtrace does not understand.
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
  std::string buffer;            // "" is the top one
  std::uint32_t page_bytes = 0;  // of the ring buffer
  bool goes_on = false;          // continues the stream of this CPU and buffer that was ended
};

// Takes a trace in this order: describe, then for each stream: begin, its records and losses in order, end.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void describe(const TraceDescription& description) = 0;
  virtual void begin_stream(const RecordStream& stream) = 0;
  virtual void record(std::uint64_t ticks, Bytes record) = 0;  // ticks of the trace's clock
  virtual void lost(std::optional<std::uint64_t> count) = 0;   // at this place; empty: unknown number
  virtual void end_stream() = 0;
};

// Gives the whole trace to the sink. Damage that was skipped becomes findings. Throws Error.
void read_records(const TraceFile& file, const OpenOptions& options, RecordSink& sink, Findings& findings);
void read_records(const std::string& path, const OpenOptions& options, RecordSink& sink, Findings& findings);

}  // namespace kmt
