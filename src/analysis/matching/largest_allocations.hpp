// SPDX-License-Identifier: GPL-2.0-or-later
// Finds the largest allocations of a trace. For each of them, finds when and by which task it was freed.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/report/allocation_slices.hpp"
#include "results/report/event_stream.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

class LargestAllocations : public EventSink {
 public:
  // Keeps the `most` largest allocations. Among allocations of equal size, earlier ones are preferred. `info` must
  // outlive this object.
  LargestAllocations(const TraceInfo& info, std::size_t most) : info_(info), most_(most) {}

  void add(const StreamedEvent& event) override;
  void end(const StreamEnd& end) override;
  AllocationSlices take() { return std::move(result_); }  // call once, after end()

 private:
  // The top of the queue is the next allocation to drop: the smallest one, and among equals the last one.
  struct Candidate {
    std::uint64_t bytes;
    std::uint32_t number;
    friend bool operator<(const Candidate& a, const Candidate& b) {
      return a.bytes != b.bytes ? a.bytes > b.bytes : a.number < b.number;
    }
  };

  void begin(const StreamedEvent& event);
  std::uint32_t track_of(const StreamedEvent& event);
  void keep_tracks_in_use();
  void assign_lanes();

  const TraceInfo& info_;
  std::size_t most_;
  std::priority_queue<Candidate> smallest_;
  std::unordered_map<std::uint32_t, AllocationSlice> kept_;  // key: number of the allocation
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> tracks_;
  AllocationSlices result_;
};

}  // namespace kmt
