// SPDX-License-Identifier: GPL-2.0-or-later
// The largest allocations of a trace as slices on tracks over time. Each slice has the task that allocated the memory
// and the task that freed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/event.hpp"

namespace kmt {

struct AllocationSlice {
  std::uint32_t number = 0;  // number of the allocation; 1 is the first allocation of the trace
  std::uint32_t track = 0;   // index into AllocationSlices::tracks
  // Lane of the slice within its track. Slices in a lane do not overlap. Empty if the allocation was not freed, or if
  // every lane was occupied.
  std::optional<unsigned> lane;
  Allocator allocator = Allocator::slab;
  std::uint64_t address = 0;  // start address; for pages, the first page frame number
  std::uint64_t bytes_requested = 0;
  std::uint64_t bytes_allocated = 0;
  std::uint64_t began_ns = 0;
  std::uint64_t call_site = 0;            // address of the call site; 0: the event does not contain it
  std::vector<std::uint64_t> stack;       // addresses of the kernel frames, innermost first; empty: unknown
  std::vector<std::uint64_t> user_stack;  // frames in user space, as indices into UserCode::frames
  std::string cache;                      // empty: unknown
  unsigned cpu = 0;
  unsigned order = 0;  // order of the block; only for pages

  struct End {
    std::uint64_t time_ns = 0;
    bool freed = true;  // false: no free was seen, but the address was allocated again
    unsigned cpu = 0;
    std::uint64_t call_site = 0;
    std::string task;  // the task that freed it
  };
  std::optional<End> end;  // empty: live at the end of the trace
};

// The track of a task, or of one kind of interrupt.
struct AllocationTrack {
  std::optional<std::int32_t> tid;
  std::string name;
  unsigned lanes = 0;
};

struct AllocationSlices {
  static constexpr unsigned kMostLanes = 32;  // maximum number of lanes in a track

  std::vector<AllocationTrack> tracks;
  std::vector<AllocationSlice> slices;  // sorted by the time of allocation
  std::uint64_t allocations = 0;        // number of all allocations; `slices` contains only the largest
  // Number of slices that have a lane. Lanes are assigned first to the slices with the largest product of bytes and
  // lifetime.
  std::uint64_t with_lane = 0;
  // Number of freed slices without a lane, because too many other slices overlap them.
  std::uint64_t without_room = 0;
  bool complete = true;  // false: reading was interrupted, so the slices are incomplete
};

}  // namespace kmt
