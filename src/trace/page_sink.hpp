// SPDX-License-Identifier: GPL-2.0-or-later
// Receives the data of a recording while recording runs. For example, a sink writes a trace file.
#pragma once

#include <cstdint>
#include <span>

#include "base/byte_reader.hpp"

namespace kmt {

class PageSink {
 public:
  virtual ~PageSink() = default;
  // Receives whole ring buffer pages of one CPU, in order. `pages` is empty if the CPU had no new events for a while.
  // Each CPU has its own thread that calls this function, so several threads may call it at the same time. Throws Error
  // if recording cannot continue. In this case too, the sink has received the pages and keeps them.
  virtual void pages(unsigned cpu, Bytes pages) = 0;
};

// Either a record, as in a page of the ring buffer, or a place where records were lost (if `lost` is not 0).
struct LiveRecord {
  std::uint64_t ticks = 0;
  Bytes record;
  std::uint64_t lost = 0;  // number of records that were lost at this place; if not 0, `record` is empty
};

// A sink that receives single records, in addition to pages. The caller owns the bytes.
class RecordingSink : public PageSink {
 public:
  virtual void records(unsigned cpu, std::span<const LiveRecord> records) = 0;
};

}  // namespace kmt
