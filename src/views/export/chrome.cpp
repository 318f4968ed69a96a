// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the "Trace Event Format", which is a JSON object with the member traceEvents. Times are in microseconds.
#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/export/tracks.hpp"
#include "views/json/common.hpp"

namespace kmt {

namespace {

// Viewers group tracks by process, so each group of tracks is a pseudo-process with one of these IDs.
constexpr unsigned kCounters = 1;
constexpr unsigned kAllocations = 2;
constexpr unsigned kCalls = 3;

class Writer {
 public:
  // Starts an event and writes the members that every event has. The caller adds the other members.
  void event(std::string_view phase, unsigned process, std::size_t thread, std::string_view name,
             std::uint64_t time_ns) {
    fmt::format_to(std::back_inserter(out_), "{}\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"name\":{},\"ts\":{}.{:03}",
                   first_ ? "" : ",", phase, process, thread, quoted(name), time_ns / 1000, time_ns % 1000);
    first_ = false;
  }
  void member(std::string_view text) { out_ += text; }
  void args(const Json& args) { out_ += ",\"args\":" + args.dump() + "}"; }
  void named(std::string_view what, unsigned process, std::size_t thread, std::string_view name) {
    event("M", process, thread, what, 0);
    args({{"name", name}});
  }
  static std::string quoted(std::string_view text) { return Json(text).dump(); }

  std::string finish(const TraceSummary& trace) {
    const Json about = {{"tool", "kmemtrace"},
                        {"kernel", printable(trace.kernel)},
                        {"clock", printable(trace.clock)},
                        {"complete", trace.complete ? "true" : "false"}};
    return "{\"displayTimeUnit\":\"ns\",\"otherData\":" + about.dump() + ",\"traceEvents\":[" + out_ + "\n]}\n";
  }

 private:
  std::string out_;
  bool first_ = true;
};

std::string_view unit_of(CounterUnit unit) {
  if (unit == CounterUnit::bytes) return "bytes";
  return unit == CounterUnit::bytes_per_s ? "bytes/s" : "1/s";
}

Json args_of(const SliceText& text) {
  Json args = Json::object();
  for (const auto& [key, value] : text.texts) args[key] = value;
  for (const auto& [key, value] : text.numbers) args[key] = value;
  return args;
}

void write(const AllocationSlice& slice, const SliceText& text, Writer& writer) {
  const Json args = args_of(text);
  const std::size_t thread = slice.track + std::size_t{1};
  const std::string category = fmt::format(",\"cat\":\"{}\"", name_of(slice.allocator));
  if (!slice.lane) {
    writer.event("i", kAllocations, thread, text.name, slice.began_ns);
    writer.member(category + ",\"s\":\"t\"");
    return writer.args(args);
  }
  const std::string id = fmt::format("{},\"id\":\"{:#x}\"", category, slice.number);
  writer.event("b", kAllocations, thread, text.name, slice.began_ns);
  writer.member(id);
  writer.args(args);
  writer.event("e", kAllocations, thread, text.name, std::max(slice.end->time_ns, slice.began_ns));
  writer.member(id + "}");
}

void write(const CallGraphResult& calls, Writer& writer) {
  if (calls.calls.empty()) return;
  writer.named("process_name", kCalls, 0, "calls");
  const CallTracks tracks = call_tracks(calls);
  for (std::size_t i = 0; i < tracks.names.size(); ++i) writer.named("thread_name", kCalls, i + 1, tracks.names[i]);
  for (const CallTracks::Step& step : tracks.steps) {
    const SliceText text = call_text(calls.calls[step.call], calls);
    const bool is_end = step.kind == CallTracks::Kind::end;
    const bool is_instant = step.kind == CallTracks::Kind::instant;
    writer.event(is_end ? "E" : is_instant ? "i" : "B", kCalls, step.track + 1, text.name, step.time_ns);
    writer.member(fmt::format(",\"cat\":\"{}\"{}", kCallCategory, is_instant ? ",\"s\":\"t\"" : ""));
    writer.args(is_end ? Json::object() : args_of(text));
  }
}

}  // namespace

std::string chrome_export(const TrackExport& shown, const SymbolNames& symbols) {
  Writer writer;
  writer.named("process_name", kCounters, 0, "kernel memory");
  for (const CounterTrack& track : counter_tracks(shown.timeline))
    for (const CounterTrack::Point& point : track.points) {
      writer.event("C", kCounters, 0, track.name, point.time_ns);
      writer.args({{unit_of(track.unit), point.value}});
    }
  const AllocationSlices& slices = shown.allocations;
  writer.named("process_name", kAllocations, 0, allocations_name(slices));
  for (std::size_t i = 0; i < slices.tracks.size(); ++i)
    writer.named("thread_name", kAllocations, i + 1, track_name(slices.tracks[i]));
  for (const AllocationSlice& slice : slices.slices) write(slice, slice_text(slice, symbols), writer);
  write(shown.calls, writer);
  return writer.finish(shown.timeline.report.trace);
}

}  // namespace kmt
