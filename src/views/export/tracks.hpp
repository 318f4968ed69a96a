// SPDX-License-Identifier: GPL-2.0-or-later
// Exports a trace over time for trace viewers: counters as tracks, and the largest allocations and traced calls as
// slices (docs/formats/export.md).
#pragma once

#include <string>
#include <vector>

#include "results/calls/graph.hpp"
#include "results/report/allocation_slices.hpp"
#include "results/report/timeline.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// The parts of a trace to show.
struct TrackExport {
  const TimelineResult& timeline;
  const AllocationSlices& allocations;
  const CallGraphResult& calls;
};

// Perfetto's protobuf format: counter tracks, and tracks for each task. The tracks of a task are its nested calls and
// lanes of allocations that do not overlap.
std::string perfetto_export(const TrackExport& shown, const SymbolNames& symbols);
// The Trace Event Format as a JSON object: counters, nestable asynchronous slices of allocations, and slices of calls.
std::string chrome_export(const TrackExport& shown, const SymbolNames& symbols);

// Both formats use the following types and functions.
enum class CounterUnit : std::uint8_t { bytes, bytes_per_s, per_s };
struct CounterTrack {
  struct Point {
    std::uint64_t time_ns = 0;
    double value = 0;
  };
  std::string group;  // "slab", "meminfo"; printable, like all strings here
  std::string name;   // "slab live", "slab dentry"
  CounterUnit unit = CounterUnit::bytes;
  std::vector<Point> points;
};
std::vector<CounterTrack> counter_tracks(const TimelineResult& timeline);

struct SliceText {
  std::string name;  // the function that allocated or was called, or the object allocated
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, std::uint64_t>> numbers;
};
SliceText slice_text(const AllocationSlice& slice, const SymbolNames& symbols);
std::string allocations_name(const AllocationSlices& slices);  // "largest allocations: 620 slices, 7 instants"
std::string track_name(const AllocationTrack& track);          // "make 1234"

// Starts and ends of calls, on the tracks of their tasks. Times on a track never decrease, and calls nest. A call
// without a start or end in the trace is an instant.
struct CallTracks {
  enum class Kind : std::uint8_t { begin, end, instant };
  struct Step {
    std::size_t track = 0;
    std::uint32_t call = 0;  // index into CallGraphResult::calls
    Kind kind = Kind::instant;
    std::uint64_t time_ns = 0;
  };
  std::vector<std::string> names;  // names of the tracks: "make 1234", "<idle> CPU 0"
  std::vector<Step> steps;
};
CallTracks call_tracks(const CallGraphResult& result);
SliceText call_text(const TracedCall& call, const CallGraphResult& result);
constexpr const char* kCallCategory = "call";

}  // namespace kmt
