// SPDX-License-Identifier: GPL-2.0-or-later
// Merges the streams of many CPUs into one stream in order of time. The streams are in a binary heap, sorted by the
// time of their next event. Events are taken from the top stream while it remains first; then the stream is sifted
// down. This needs one comparison per event if one CPU has many events in a row, and log2(streams) comparisons if CPUs
// alternate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/event.hpp"

namespace kmt {

// The events of one CPU, in the order of its ring buffer.
class CpuStream {
 public:
  virtual ~CpuStream() = default;
  // Replaces the events in the batch by the next events. Returns false at the end. The batch is not empty if the result
  // is true.
  virtual bool read(EventBatch& batch) = 0;
};

class TimeMerge {
 public:
  // At equal times, events are returned in the order of these streams: events of the first stream come first.
  explicit TimeMerge(std::vector<std::unique_ptr<CpuStream>> streams);

  // Replaces the events in the batch by the next events. Returns false at the end.
  bool read(EventBatch& batch);

 private:
  struct Cursor {
    std::unique_ptr<CpuStream> stream;
    EventBatch events;
    std::size_t next = 0;
  };
  // The next event of a stream. If it is earlier than the CPU's previous event, it is sorted as if it had the
  // time of that event. This preserves the order of each CPU's buffer.
  struct Head {
    std::uint64_t time_ns;
    std::size_t stream;  // index into cursors_
  };
  static bool before(const Head& a, const Head& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.stream < b.stream;
  }

  bool refill(Cursor& cursor);
  void sift_down();

  std::vector<Cursor> cursors_;
  std::vector<Head> heap_;
};

}  // namespace kmt
