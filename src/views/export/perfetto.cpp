// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the format of Perfetto's trace.proto: one packet for each track and for each event. All packets are in one
// sequence.
#include <algorithm>

#include <fmt/format.h>
#include <protozero/pbf_builder.hpp>

#include "base/text.hpp"
#include "views/export/tracks.hpp"

namespace kmt {

namespace {

using Tag = protozero::pbf_tag_type;
enum class Trace : Tag { packet = 1 };
enum class Packet : Tag { timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11, track_descriptor = 60 };
enum class Track : Tag { uuid = 1, name = 2, process = 3, parent_uuid = 5, counter = 8 };
enum class Process : Tag { pid = 1, process_name = 6 };
enum class Counter : Tag { unit = 3, unit_name = 6 };
enum class TrackEvent : Tag {
  debug_annotations = 4,
  type = 9,
  track_uuid = 11,
  categories = 22,
  name = 23,
  counter_value = 30,
  double_counter_value = 44
};
enum class Annotation : Tag { uint_value = 3, string_value = 6, name = 10 };

enum Type : std::int32_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };
enum WireUnit : std::int32_t { kUnspecified = 0, kBytes = 3 };

template <typename Message>
using Builder = protozero::pbf_builder<Message>;

// This and the next two numbers are the UUIDs of the groups of tracks. Larger numbers are the UUIDs of tracks.
constexpr std::uint64_t kMemory = 1;
constexpr std::uint64_t kAllocations = 2;
constexpr std::uint64_t kCalls = 3;

class Writer {
 public:
  explicit Writer(std::string& out) : trace_(out) {}

  void process(std::uint64_t uuid, const std::string& name) {
    Builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::trusted_packet_sequence_id, 1);
    Builder<Track> track(packet, Packet::track_descriptor);
    track.add_uint64(Track::uuid, uuid);
    Builder<Process> process(track, Track::process);
    process.add_int32(Process::pid, static_cast<std::int32_t>(uuid));
    process.add_string(Process::process_name, name);
  }

  // Adds a track below `parent`. A track with a unit is a counter track.
  std::uint64_t track(std::uint64_t parent, const std::string& name, const CounterUnit* unit = nullptr) {
    Builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::trusted_packet_sequence_id, 1);
    Builder<Track> track(packet, Packet::track_descriptor);
    track.add_uint64(Track::uuid, ++last_uuid_);
    track.add_uint64(Track::parent_uuid, parent);
    track.add_string(Track::name, name);
    if (unit != nullptr) {
      Builder<Counter> counter(track, Track::counter);
      counter.add_int32(Counter::unit, *unit == CounterUnit::bytes ? kBytes : kUnspecified);
      if (*unit != CounterUnit::bytes)
        counter.add_string(Counter::unit_name, *unit == CounterUnit::bytes_per_s ? "bytes/s" : "1/s");
    }
    return last_uuid_;
  }

  void count(std::uint64_t track, CounterUnit unit, const CounterTrack::Point& point) {
    Builder<Packet> packet = event_packet(point.time_ns);
    Builder<TrackEvent> event(packet, Packet::track_event);
    event.add_int32(TrackEvent::type, kCounter);
    event.add_uint64(TrackEvent::track_uuid, track);
    if (unit == CounterUnit::bytes)
      event.add_int64(TrackEvent::counter_value, static_cast<std::int64_t>(std::clamp(point.value, -9e18, 9e18)));
    else
      event.add_double(TrackEvent::double_counter_value, point.value);
  }

  void event(Type type, std::uint64_t track, std::uint64_t time_ns, std::string_view category, const SliceText& text) {
    Builder<Packet> packet = event_packet(time_ns);
    Builder<TrackEvent> event(packet, Packet::track_event);
    event.add_int32(TrackEvent::type, type);
    event.add_uint64(TrackEvent::track_uuid, track);
    if (type == kSliceEnd) return;
    event.add_string(TrackEvent::categories, std::string(category));
    event.add_string(TrackEvent::name, text.name);
    for (const auto& [key, value] : text.texts) {
      Builder<Annotation> annotation(event, TrackEvent::debug_annotations);
      annotation.add_string(Annotation::name, key);
      annotation.add_string(Annotation::string_value, value);
    }
    for (const auto& [key, value] : text.numbers) {
      Builder<Annotation> annotation(event, TrackEvent::debug_annotations);
      annotation.add_string(Annotation::name, key);
      annotation.add_uint64(Annotation::uint_value, value);
    }
  }

 private:
  Builder<Packet> event_packet(std::uint64_t time_ns) {
    Builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint64(Packet::timestamp, time_ns);
    packet.add_uint32(Packet::trusted_packet_sequence_id, 1);
    return packet;
  }

  Builder<Trace> trace_;
  std::uint64_t last_uuid_ = kCalls;
};

// The lanes of a task have equal names, so viewers draw them together below the task.
struct TaskTracks {
  std::uint64_t task;
  std::vector<std::uint64_t> lanes;
};

void write(const AllocationSlices& slices, const SymbolNames& symbols, Writer& writer) {
  writer.process(kAllocations, allocations_name(slices));
  std::vector<TaskTracks> tasks;
  for (const AllocationTrack& of : slices.tracks) {
    TaskTracks task{writer.track(kAllocations, track_name(of)), {}};
    for (unsigned lane = 0; lane < of.lanes; ++lane) task.lanes.push_back(writer.track(task.task, track_name(of)));
    tasks.push_back(std::move(task));
  }
  for (const AllocationSlice& slice : slices.slices) {
    const SliceText text = slice_text(slice, symbols);
    if (!slice.lane) {
      writer.event(kInstant, tasks[slice.track].task, slice.began_ns, name_of(slice.allocator), text);
      continue;
    }
    const std::uint64_t lane = tasks[slice.track].lanes[*slice.lane];
    writer.event(kSliceBegin, lane, slice.began_ns, name_of(slice.allocator), text);
    writer.event(kSliceEnd, lane, std::max(slice.end->time_ns, slice.began_ns), name_of(slice.allocator), text);
  }
}

void write(const CallGraphResult& calls, Writer& writer) {
  if (calls.calls.empty()) return;
  writer.process(kCalls, "calls");
  const CallTracks tracks = call_tracks(calls);
  std::vector<std::uint64_t> uuids;
  for (const std::string& name : tracks.names) uuids.push_back(writer.track(kCalls, name));
  for (const CallTracks::Step& step : tracks.steps) {
    const Type type = step.kind == CallTracks::Kind::begin ? kSliceBegin
                      : step.kind == CallTracks::Kind::end ? kSliceEnd
                                                           : kInstant;
    const SliceText text = type == kSliceEnd ? SliceText{} : call_text(calls.calls[step.call], calls);
    writer.event(type, uuids[step.track], step.time_ns, kCallCategory, text);
  }
}

}  // namespace

std::string perfetto_export(const TrackExport& shown, const SymbolNames& symbols) {
  std::string out;
  Writer writer(out);
  writer.process(kMemory, "kernel memory");
  for (const CounterTrack& counter : counter_tracks(shown.timeline)) {
    const std::uint64_t track = writer.track(kMemory, counter.name, &counter.unit);
    for (const CounterTrack::Point& point : counter.points) writer.count(track, counter.unit, point);
  }
  write(shown.allocations, symbols, writer);
  write(shown.calls, writer);
  return out;
}

}  // namespace kmt
