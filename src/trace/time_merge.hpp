// SPDX-License-Identifier: GPL-2.0-or-later
// Merges the streams of many CPUs into one in time order: a binary heap of the streams' next times. The stream at
// the top gives events for as long as it stays first, then is sifted down: one comparison an event where a CPU runs
// alone, log2(streams) where they alternate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/event.hpp"

namespace kmt {

// Events of one CPU in the order of its buffer.
class CpuStream {
 public:
  virtual ~CpuStream() = default;
  // Replaces the batch by the next events; false at the end, never true with an empty batch.
  virtual bool read(EventBatch& batch) = 0;
};

class TimeMerge {
 public:
  // Streams in the order in which events of equal time shall come.
  explicit TimeMerge(std::vector<std::unique_ptr<CpuStream>> streams);

  // Replaces the batch by the next events; false at the end.
  bool read(EventBatch& batch);

 private:
  struct Cursor {
    std::unique_ptr<CpuStream> stream;
    EventBatch events;
    std::size_t next = 0;
  };
  // The next event of a stream; the time never falls, so that order within a CPU is the buffer's.
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
