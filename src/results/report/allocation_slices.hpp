// SPDX-License-Identifier: GPL-2.0-or-later
// Single allocations on tracks over time: the largest of a trace, each with who made and who freed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace kmt {

struct AllocationSlice {
  std::uint32_t number = 0;      // 1 is the trace's first allocation
  std::uint32_t track = 0;       // of AllocationSlices::tracks
  std::optional<unsigned> lane;  // on its track, where slices do not overlap; empty: not freed, or there is no room
  Allocator allocator = Allocator::slab;
  std::uint64_t address = 0;  // of pages the number of the first frame
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t began_ns = 0;
  std::uint64_t call_site = 0;            // address; 0: the event does not say
  std::vector<std::uint64_t> stack;       // the kernel's part, addresses, innermost first; empty: not known
  std::vector<std::uint64_t> user_stack;  // the program's: numbers of UserCode::frames
  std::string cache;                      // empty: not known
  unsigned cpu = 0;
  unsigned order = 0;  // of pages

  struct End {
    std::uint64_t time_ns = 0;
    bool freed = true;  // false: allocated again while it looked live
    unsigned cpu = 0;
    std::uint64_t call_site = 0;
    std::string task;  // the task that freed it
  };
  std::optional<End> end;  // empty: live at the end of the trace
};

// A task, or an interrupt.
struct AllocationTrack {
  std::optional<std::int32_t> tid;
  std::string name;
  unsigned lanes = 0;
};

struct AllocationSlices {
  static constexpr unsigned kMostLanes = 32;  // of a track

  std::vector<AllocationTrack> tracks;
  std::vector<AllocationSlice> slices;  // by the time when they began
  std::uint64_t allocations = 0;        // in all; these are the largest
  std::uint64_t with_lane = 0;          // of these: the ones that hold most bytes for longest
  std::uint64_t without_room = 0;       // freed, but too many others were there at the same time
  bool complete = true;                 // false: reading was interrupted
};

}  // namespace kmt
