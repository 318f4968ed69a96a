// SPDX-License-Identifier: GPL-2.0-or-later
// Takes what is recorded while it is recorded: the way from capture to a format.
#pragma once

#include <cstdint>
#include <span>

#include "base/byte_reader.hpp"

namespace kmt {

class PageSink {
 public:
  virtual ~PageSink() = default;
  // Whole pages of a CPU in their order, or none when the CPU has been quiet for a while. Each CPU has one thread that
  // calls it, different CPUs call at the same time. Throws Error when recording cannot go on; even then it keeps the
  // pages that it was given.
  virtual void pages(unsigned cpu, Bytes pages) = 0;
};

// A record as it would be in a page, or the number of records lost at this place.
struct LiveRecord {
  std::uint64_t ticks = 0;
  Bytes record;
  std::uint64_t lost = 0;  // other than 0: there is no record
};

// Takes single records as well, in the same way as pages: the bytes are the caller's.
class RecordingSink : public PageSink {
 public:
  virtual void records(unsigned cpu, std::span<const LiveRecord> records) = 0;
};

}  // namespace kmt
