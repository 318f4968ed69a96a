// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/export/tracks.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "trace/code/function_name.hpp"
#include "views/json/call_values.hpp"

namespace kmt {

namespace {

using Points = std::vector<CounterTrack::Point>;

// Returns the points of the live bytes. The bytes that are live at the end of a bucket are also live at the start of
// the next bucket.
Points live_of(const Timeline& timeline, const TimeAxis& axis) {
  Points points = {{axis.start_ns, 0}};
  for (std::size_t i = 0; i < timeline.points.size(); ++i)
    points.push_back({axis.start_ns + (i + 1) * axis.width_ns, static_cast<double>(timeline.points[i].live_bytes)});
  return points;
}

// Returns the points of a rate per second. Each point is at the start of a bucket and has the rate of this bucket.
Points rate_of(const Timeline& timeline, const TimeAxis& axis, std::uint64_t TimeSeriesPoint::*count) {
  const double seconds = static_cast<double>(axis.width_ns) / 1e9;
  Points points;
  for (std::size_t i = 0; i < timeline.points.size(); ++i)
    points.push_back({axis.start_ns + i * axis.width_ns, static_cast<double>(timeline.points[i].*count) / seconds});
  points.push_back({axis.start_ns + timeline.points.size() * axis.width_ns, 0});
  return points;
}

void add_timeline(const Timeline& timeline, const TimelineResult& result, std::vector<CounterTrack>& tracks) {
  const std::string allocator(name_of(timeline.allocator));
  const bool of_group = timeline.group != nullptr;
  const std::string name = allocator + (of_group ? ": " + printable(timeline.name) : std::string());
  if (timeline.knows_bytes)
    tracks.push_back({allocator, name + " live", CounterUnit::bytes, live_of(timeline, result.axis)});
  if (!result.report.trace.clock_in_ns) return;
  if (timeline.knows_bytes)
    tracks.push_back({allocator, name + " allocated", CounterUnit::bytes_per_s,
                      rate_of(timeline, result.axis, &TimeSeriesPoint::bytes_allocated)});
  if (!of_group)
    tracks.push_back({allocator, name + " allocations", CounterUnit::per_s,
                      rate_of(timeline, result.axis, &TimeSeriesPoint::allocations)});
}

std::string_view name_of(MemorySource source) {
  constexpr std::array<std::string_view, 6> kNames = {
      "meminfo", "vmstat", "vmstat", "slabinfo objects", "slabinfo pages", "accounting data of slabs, at most,"};
  return kNames[static_cast<std::size_t>(source)];
}

}  // namespace

std::vector<CounterTrack> counter_tracks(const TimelineResult& result) {
  std::vector<CounterTrack> tracks;
  for (const Timeline& timeline : result.allocators) add_timeline(timeline, result, tracks);
  for (const Timeline& timeline : result.groups) add_timeline(timeline, result, tracks);
  if (!result.report.histories) return tracks;
  for (const MemorySeries& memory : result.report.histories->memory) {
    const std::string group(name_of(memory.source));
    const bool rate = memory.source == MemorySource::vmstat_rate;
    CounterTrack track{
        group, group + " " + printable(memory.name), rate ? CounterUnit::bytes_per_s : CounterUnit::bytes, {}};
    for (const MemorySeriesPoint& point : memory.points) track.points.push_back({point.time_ns, point.value});
    tracks.push_back(std::move(track));
  }
  return tracks;
}

namespace {

// Returns the frames from the allocator to `main`, one per line. The name of the program is appended to frames of
// programs.
std::string stack_text(const AllocationSlice& slice, const SymbolNames& symbols) {
  std::string text;
  for (const std::uint64_t address : slice.stack) text += printable(symbols.name(address)) + "\n";
  for (const std::uint64_t frame : slice.user_stack) {
    const UserName name = symbols.user_name(frame);
    text += printable(fmt::format("{} ({})", name.symbol(), name.object)) + "\n";
  }
  if (!text.empty()) text.pop_back();
  return text;
}

}  // namespace

SliceText slice_text(const AllocationSlice& slice, const SymbolNames& symbols) {
  SliceText text;
  const std::string cache = printable(slice.cache);
  const bool of_pages = slice.allocator == Allocator::pages;
  if (slice.call_site != 0) {
    const std::string symbol = printable(symbols.name(slice.call_site));
    text.name = function_of(symbol);
    text.texts.emplace_back("call site", symbol);
  } else if (of_pages) {
    text.name = fmt::format("pages of order {}", slice.order);
  } else {
    text.name = cache.empty() ? name_of(slice.allocator) : cache;
  }
  if (const std::string stack = stack_text(slice, symbols); !stack.empty()) text.texts.emplace_back("stack", stack);
  text.texts.emplace_back("allocator", name_of(slice.allocator));
  text.texts.emplace_back(of_pages ? "page frame" : "address", fmt::format("{:#x}", slice.address));
  if (!cache.empty()) text.texts.emplace_back("cache", cache);
  text.numbers = {{"bytes", slice.bytes_allocated}, {"bytes requested", slice.bytes_requested}, {"cpu", slice.cpu}};
  if (!slice.end) {
    text.texts.emplace_back("end", "live");
    return text;
  }
  text.texts.emplace_back("end", slice.end->freed ? "freed" : "allocated again");
  if (slice.end->call_site != 0) text.texts.emplace_back("freed at", printable(symbols.name(slice.end->call_site)));
  text.texts.emplace_back("freed by", printable(slice.end->task));
  text.numbers.emplace_back("freed on cpu", slice.end->cpu);
  const bool forward = slice.end->time_ns > slice.began_ns;
  text.numbers.emplace_back("lifetime ns", forward ? slice.end->time_ns - slice.began_ns : 0);
  return text;
}

std::string allocations_name(const AllocationSlices& slices) {
  return fmt::format("largest allocations: {} slices, {} instants", humane_count(slices.with_lane),
                     humane_count(slices.slices.size() - slices.with_lane));
}

CallTracks call_tracks(const CallGraphResult& result) {
  CallTracks tracks;
  // key: thread ID, and for idle tasks also the CPU, because all idle tasks have the thread ID 0
  std::map<std::pair<std::int32_t, unsigned>, std::size_t> of_task;
  std::vector<std::uint64_t> last_ns;
  for (const GraphStep& step : result.steps) {
    const TracedCall& call = result.calls[step.call];
    const bool is_whole = call.begin_seen && call.end_seen;
    const std::pair key(call.tid, call.tid == 0 ? unsigned{call.cpu} : 0);
    const auto [track, is_new] = of_task.try_emplace(key, tracks.names.size());
    if (is_new) {
      tracks.names.push_back(call.tid == 0 ? fmt::format("<idle> CPU {}", call.cpu)
                                           : fmt::format("{} {}", printable(call.task), call.tid));
      last_ns.push_back(0);
    }
    std::uint64_t& last = last_ns[track->second];
    last = std::max(last, step.is_end ? call.ended_ns : call.began_ns);
    const CallTracks::Kind kind = !is_whole     ? CallTracks::Kind::instant
                                  : step.is_end ? CallTracks::Kind::end
                                                : CallTracks::Kind::begin;
    tracks.steps.push_back({track->second, step.call, kind, last});
  }
  return tracks;
}

SliceText call_text(const TracedCall& call, const CallGraphResult& result) {
  SliceText text;
  text.name = printable(result.functions[call.function].name);
  if (const char* const interrupt = interrupt_name(call)) text.texts.emplace_back("interrupt", interrupt);
  if (!call.begin_seen) text.texts.emplace_back("begin", "not in the trace");
  if (!call.end_seen) text.texts.emplace_back("end", "not in the trace");
  if (call.lost_events) text.texts.emplace_back("lost events", "during the call");
  if (call.arguments)
    for (const auto& [name, shown] : named_texts(*call.arguments)) text.texts.emplace_back("args." + name, shown);
  if (call.result) text.texts.emplace_back("result", value_text(*call.result, true));
  if (call.return_value && (call.result || !call.typed))
    text.texts.emplace_back("return value", fmt::format("{:#x}", *call.return_value));
  if (const auto error = returned_error(call, result.trace.word_bits))
    text.texts.emplace_back("error", fmt::format("{}", *error));
  text.numbers.emplace_back("cpu", call.cpu);
  if (call.end_cpu != call.cpu) text.numbers.emplace_back("ended on cpu", call.end_cpu);
  if (call.duration_ns) text.numbers.emplace_back("duration ns", *call.duration_ns);
  for (std::size_t i = 0; i < kAllocators; ++i) {
    const InsideSum& sum = call.inside[i];
    const std::string_view allocator = name_of(static_cast<Allocator>(i));
    if (sum.allocations > 0) {
      text.numbers.emplace_back(fmt::format("{} bytes", allocator), sum.bytes);
      text.numbers.emplace_back(fmt::format("{} allocations", allocator), sum.allocations);
      text.numbers.emplace_back(fmt::format("{} live bytes", allocator), sum.live_bytes);
    }
    if (sum.failed > 0) text.numbers.emplace_back(fmt::format("{} failed", allocator), sum.failed);
  }
  return text;
}

std::string track_name(const AllocationTrack& track) {
  const std::string name = printable(track.name);
  return track.tid ? fmt::format("{} {}", name, *track.tid) : name;
}

}  // namespace kmt
