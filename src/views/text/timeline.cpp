// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/timeline.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "views/text/findings.hpp"
#include "views/text/lines.hpp"
#include "views/text/plot.hpp"
#include "views/text/stalls.hpp"
#include "views/text/table.hpp"

namespace kmt {

namespace {

using Points = std::vector<TimeSeriesPoint>;

// Limits the value to the range of the result, because a trace may contain any number.
std::uint64_t magnitude(double value) {
  constexpr double kMost = 9e18;
  return static_cast<std::uint64_t>(std::llround(std::min(std::abs(value), kMost)));
}

std::string say_bytes_of(double bytes) {
  const std::string size = humane_bytes(magnitude(bytes));
  return bytes < 0 ? "-" + size : size;
}

std::string grown(double by, const TextStyle& style) {
  const std::string size = say_bytes(magnitude(by), style);
  return by < 0 ? "fell by " + size : "grew by " + size;
}

std::vector<double> values_of(const Points& points, const TimeAxis& axis, double (*get)(const TimeSeriesPoint&),
                              bool rate) {
  std::vector<double> values;
  const double seconds = static_cast<double>(axis.width_ns) / 1e9;
  for (const TimeSeriesPoint& point : points) values.push_back(rate ? get(point) / seconds : get(point));
  return values;
}
double live(const TimeSeriesPoint& point) { return static_cast<double>(point.live_bytes); }
double allocated(const TimeSeriesPoint& point) { return static_cast<double>(point.bytes_allocated); }
double count(const TimeSeriesPoint& point) { return static_cast<double>(point.allocations); }

// Converts samples to one value per bucket. The value of a bucket is that of the latest sample up to this bucket.
std::vector<double> values_of(const MemorySeries& memory, const TimeAxis& axis) {
  std::vector<double> values(axis.buckets, std::nan(""));
  for (auto point = memory.points.begin(); point != memory.points.end() && !values.empty(); ++point) {
    const auto next = std::next(point);
    const std::size_t end = next == memory.points.end() ? values.size() : axis.bucket_of(next->time_ns);
    for (std::size_t i = axis.bucket_of(point->time_ns); i < std::max(end, axis.bucket_of(point->time_ns) + 1); ++i)
      values[i] = point->value;
  }
  return values;
}

PlotFrame frame_of(const TimelineResult& result, std::size_t height, std::function<std::string(double)> say,
                   const TextStyle& style) {
  const std::uint64_t span = result.axis.end_ns - result.axis.start_ns;
  if (!result.report.trace.clock_in_ns) return {height, "0", say_count(span, style) + " ticks", std::move(say)};
  return {height, "0 s", say_duration(span, style), std::move(say)};
}

std::string allocator_plots(const Timeline& timeline, const TimelineResult& result, const TextStyle& style) {
  const auto draw = [&](const char* name, double (*get)(const TimeSeriesPoint&), bool rate, std::size_t height,
                        std::function<std::string(double)> say) {
    return plot({{name, values_of(timeline.points, result.axis, get, rate)}},
                frame_of(result, height, std::move(say), style), style);
  };
  // If the clock does not count nanoseconds, rates per second are unknown.
  const bool has_clock = result.report.trace.clock_in_ns;
  const char* const unit = has_clock ? "/s" : "";
  const auto bytes_rate = [unit](double value) { return say_bytes_of(value) + unit; };
  const auto count_rate = [unit](double value) { return humane_count(magnitude(value)) + unit; };
  std::string out = "\n" + heading(capitalised(timeline.allocator), style);
  if (timeline.knows_bytes)
    out += draw(maybe_freed_of(timeline, result.report).allocations > 0
                    ? "live bytes of allocations in the trace (upper bound: some may be freed without an event)"
                    : "live bytes of allocations in the trace",
                live, false, 6, say_bytes_of) +
           draw(has_clock ? "bytes allocated" : "bytes allocated in a bucket", allocated, has_clock, 4, bytes_rate);
  else
    out += hanging("  ", "The trace does not contain the sizes of these allocations.", style);
  return out + draw(has_clock ? "allocations" : "allocations in a bucket", count, has_clock, 4, count_rate);
}

// Returns a table with one line for each group.
std::string group_lines(Allocator allocator, const TimelineResult& result, const TextStyle& style) {
  Table table{{{"Group", true}, {"Peak", false, 1}, {"At end", false, 2}, {"Live bytes"}, {"Allocated", false, 3}}, {}};
  const std::size_t cells = style.width >= 110 ? 30 : 16;
  for (const Timeline& group : result.groups) {
    if (group.allocator != allocator) continue;
    const auto say_known = [&](std::uint64_t bytes) { return group.knows_bytes ? say_bytes(bytes, style) : "unknown"; };
    table.rows.push_back({{ascii(group.name), say_known(group.group->peak_bytes.value_or(0)),
                           upper_bound(group.group->maybe_freed, say_known(group.group->live_bytes), style),
                           sparkline(values_of(group.points, result.axis, live, false), cells, style),
                           sparkline(values_of(group.points, result.axis, allocated, true), cells, style)},
                          false});
  }
  if (table.rows.empty()) return {};
  std::string keys;
  for (const GroupKey key : result.report.by) keys += fmt::format("{}{}", keys.empty() ? "" : ", ", info_of(key).name);
  return "\n" + heading(fmt::format("{} by {}, highest peaks", capitalised(allocator), keys), style) +
         to_text(table, style);
}

std::string memory_lines(const TimelineResult& result, const TextStyle& style) {
  Table table{{{"Kernel counter", true}, {"First", false, 1}, {"Last"}, {"Change"}, {"Over time", false, 2}}, {}};
  const std::size_t cells = style.width >= 110 ? 30 : 16;
  for (const MemorySeries& memory : result.report.histories->memory) {
    if (memory.source != MemorySource::meminfo && memory.source != MemorySource::vmstat_rate) continue;
    const bool rate = memory.source == MemorySource::vmstat_rate;
    const double first = memory.points.front().value;
    const double last = memory.points.back().value;
    const bool never = std::all_of(memory.points.begin(), memory.points.end(),
                                   [](const MemorySeriesPoint& point) { return point.value == 0; });
    if (never) continue;
    const char* const unit = rate ? "/s" : "";
    table.rows.push_back({{ascii(memory.name), say_bytes_of(first) + unit, say_bytes_of(last) + unit,
                           (last < first ? "" : "+") + say_bytes_of(last - first) + unit,
                           sparkline(values_of(memory, result.axis), cells, style)},
                          false});
  }
  return table.rows.empty() ? "" : "\n" + heading("Samples", style) + to_text(table, style);
}

// Returns a sentence such as "SUnreclaim grew by 8.9 MiB from … to …, the trace explains 8.1 MiB."
std::string balance_sentence(const Balance& balance, bool in_ns, const TextStyle& style) {
  const double change = balance.last - balance.first;
  const auto explained = static_cast<double>(balance.explained);
  const std::string by_events = fmt::format("and according to the events of the trace, it {}", grown(explained, style));
  constexpr double kAbout = 1.05;  // values that differ by less than 5 % count as equal
  const bool is_part = change != 0 && std::abs(explained) <= kAbout * std::abs(change) &&
                       (explained == 0 || (explained < 0) == (change < 0));
  const std::string rest = is_part ? fmt::format("the trace explains {}",
                                                 explained == 0 ? "nothing" : say_bytes(magnitude(explained), style))
                                   : by_events;
  const auto say_time = [in_ns](std::uint64_t time) { return in_ns ? say_seconds(time) : fmt::format("{}", time); };
  return fmt::format("{} {} from {} to {}, {}.", ascii(balance.name),
                     change == 0 ? "stayed the same" : grown(change, style), say_time(balance.first_ns),
                     say_time(balance.last_ns), rest);
}

std::string balance_lines(const TimelineResult& result, const TextStyle& style) {
  if (result.balances.empty()) return {};
  std::string out = "\n" + heading("Balance", style);
  for (auto balance = result.balances.begin(); balance != result.balances.end(); ++balance) {
    out += hanging("  ", balance_sentence(*balance, result.report.trace.clock_in_ns, style), style);
    const auto next = std::next(balance);
    if (next == result.balances.end() || next->of_what != balance->of_what)
      out += emphasised(hanging("    Explained: ", std::string(balance->of_what) + ".", style), Emphasis::aside, style);
  }
  return out;
}

// Returns a plot of the time that tasks waited for memory, and the longest waits. Empty if no task waited.
std::string wait_lines(const std::optional<StallsResult>& stalls, const TextStyle& style) {
  if (!stalls || stalls->total.waits == 0) return {};
  const WaitsOverTime& waits = stalls->over_time;
  std::vector<double> values;
  for (const std::uint64_t waiting_ns : waits.waiting_ns)
    values.push_back(static_cast<double>(waiting_ns) / static_cast<double>(waits.bucket_ns));
  const auto say = [](double value) {
    const std::string number = value < 10 ? fmt::format("{:.2g}", value) : fmt::format("{:.0f}", value);
    return number + (number == "1" ? " task" : " tasks");
  };
  PagesOptions options;
  options.limit = 0;
  return "\n" +
         heading(fmt::format("Waits for memory: {} in {}", say_duration(stalls->total.total_ns, style),
                             say_number_of(stalls->total.waits, "wait", style)),
                 style) +
         plot({{"waiting tasks, on average", values}},
              {4, "0 s", say_duration(waits.end_ns - waits.start_ns, style), say}, style) +
         longest_waits(*stalls, options, style);
}

}  // namespace

std::string text_timeline(const TimelineResult& result, const TextStyle& style) {
  const TraceSummary& trace = result.report.trace;
  std::string out = trace_lines(trace, say_count(trace.events, style), style);
  if (result.allocators.empty()) {
    const std::string samples = memory_lines(result, style);
    out += "\n" + hanging("",
                          samples.empty() ? "Nothing to show: no allocation matches the filters."
                                          : "No allocation matches the filters.",
                          style);
    return out + wait_lines(result.stalls, style) + samples;
  }
  for (const Timeline& timeline : result.allocators) {
    out += allocator_plots(timeline, result, style);
    out += group_lines(timeline.allocator, result, style);
  }
  out += wait_lines(result.stalls, style) + memory_lines(result, style) + balance_lines(result, style);
  const ReportResult& report = result.report;
  if (const std::string line = explained_line(report.explained, maybe_freed_of(report), style); !line.empty())
    out += "\n" + line;
  return out + anomaly_section(report.anomalies, report.findings, may_lack_events(trace), style, report.explained);
}

}  // namespace kmt
