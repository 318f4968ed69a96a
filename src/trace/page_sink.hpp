// SPDX-License-Identifier: GPL-2.0-or-later
// Receives the data of a recording while it is recorded, on its way from the capture to a trace format.
#pragma once

#include <cstdint>
#include <span>

#include "base/byte_reader.hpp"

namespace kmt {

class PageSink {
 public:
  virtual ~PageSink() = default;
  // Receives whole pages of a CPU in order, or none if the CPU was quiet for a while. Each CPU has one thread that
  // calls this function; threads of different CPUs call it at the same time. Throws Error if recording cannot continue.
  // Even then, the sink has received the pages and keeps them.
  virtual void pages(unsigned cpu, Bytes pages) = 0;
};

// A record as in a ring buffer page, or the number of records that were lost at this place.
struct LiveRecord {
  std::uint64_t ticks = 0;
  Bytes record;
  std::uint64_t lost = 0;  // not 0: records were lost, and `record` is empty
};

// Also receives single records, in the same way as pages. The caller owns the bytes.
class RecordingSink : public PageSink {
 public:
  virtual void records(unsigned cpu, std::span<const LiveRecord> records) = 0;
};

}  // namespace kmt
