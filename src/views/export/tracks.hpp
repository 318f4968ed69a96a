// SPDX-License-Identifier: GPL-2.0-or-later
// Exports a trace over time for trace viewers. Counters become tracks. The largest allocations and the traced calls
// become slices (docs/formats/export.md).
#pragma once

#include <string>
#include <vector>

#include "results/calls/graph.hpp"
#include "results/report/allocation_slices.hpp"
#include "results/report/timeline.hpp"
#include "trace/code/symbol_names.hpp"

namespace kmt {

// The results of one trace that an export shows.
struct TrackExport {
  const TimelineResult& timeline;
  const AllocationSlices& allocations;
  const CallGraphResult& calls;
};

// Returns Perfetto's protobuf format with counter tracks and tracks for each task. A task has one track for its nested
// calls. Its allocations are spread over several lanes, so that allocations in a lane do not overlap.
std::string perfetto_export(const TrackExport& shown, const SymbolNames& symbols);
// Returns the Trace Event Format as a JSON object. Counters are counter events, allocations are nestable asynchronous
// slices, and calls are slices.
std::string chrome_export(const TrackExport& shown, const SymbolNames& symbols);

// Both formats use the following types and functions.
enum class CounterUnit : std::uint8_t { bytes, bytes_per_s, per_s };
struct CounterTrack {
  struct Point {
    std::uint64_t time_ns = 0;
    double value = 0;
  };
  std::string group;  // for example "slab" or "meminfo"; all strings in this file are printable
  std::string name;   // for example "slab live" or "slab dentry"
  CounterUnit unit = CounterUnit::bytes;
  std::vector<Point> points;
};
std::vector<CounterTrack> counter_tracks(const TimelineResult& timeline);

struct SliceText {
  std::string name;  // name of the function that allocated or was called, or of the allocated object
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, std::uint64_t>> numbers;
};
SliceText slice_text(const AllocationSlice& slice, const SymbolNames& symbols);
// returns a text such as "largest allocations: 620 slices, 7 instants"
std::string allocations_name(const AllocationSlices& slices);
std::string track_name(const AllocationTrack& track);  // "make 1234"

// The starts and ends of calls, on one track per task. On each track, times never decrease and calls are nested. A call
// is an instant if its start or its end is not in the trace.
struct CallTracks {
  enum class Kind : std::uint8_t { begin, end, instant };
  struct Step {
    std::size_t track = 0;
    std::uint32_t call = 0;  // index into CallGraphResult::calls
    Kind kind = Kind::instant;
    std::uint64_t time_ns = 0;
  };
  std::vector<std::string> names;  // for example "make 1234" or "<idle> CPU 0"
  std::vector<Step> steps;
};
CallTracks call_tracks(const CallGraphResult& result);
SliceText call_text(const TracedCall& call, const CallGraphResult& result);
constexpr const char* kCallCategory = "call";

}  // namespace kmt
