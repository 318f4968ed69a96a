// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/lines.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace kmt {

namespace {

constexpr std::size_t kLabelWidth = 13;  // in characters, including the indent

}  // namespace

std::string say_bytes(std::uint64_t bytes, const TextStyle& style) {
  return style.raw ? fmt::format("{} B", bytes) : humane_bytes(bytes);
}

std::string say_count(std::uint64_t count, const TextStyle& style) {
  return style.raw ? fmt::format("{}", count) : humane_count(count);
}

std::string bytes_or_unknown(const std::optional<std::uint64_t>& bytes, const TextStyle& style) {
  return bytes ? say_bytes(*bytes, style) : "-";
}

std::string say_change(std::int64_t change, Unit unit, const TextStyle& style) {
  const auto size = static_cast<std::uint64_t>(change);
  const auto say = [&](std::uint64_t number) {
    return unit == Unit::bytes ? say_bytes(number, style) : say_count(number, style);
  };
  return change < 0 ? "-" + say(-size) : "+" + say(size);
}

std::string say_duration(std::uint64_t nanoseconds, const TextStyle& style) {
  return style.raw ? fmt::format("{} ns", nanoseconds) : humane_duration(nanoseconds);
}

std::string upper_bound(const LiveCount& maybe_freed, std::string text, const TextStyle& style) {
  return maybe_freed.allocations == 0 || style.raw ? text : "<= " + text;
}

std::string say_seconds(std::uint64_t nanoseconds) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return fmt::format("{}.{:09}", nanoseconds / kSecond, nanoseconds % kSecond);
}

std::string say_time(std::uint64_t unix_ns) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(unix_ns / 1'000'000'000)));
}

std::string say_number_of(std::uint64_t count, std::string_view noun, const TextStyle& style) {
  return fmt::format("{} {}{}", say_count(count, style), noun, count == 1 ? "" : "s");
}

bool names_processes(const std::vector<GroupKey>& by) {
  return std::ranges::any_of(by, [](GroupKey key) { return key == GroupKey::process || key == GroupKey::task; });
}

std::string say_growth(double bytes_per_s) {
  constexpr double kMost = 9e18;
  const auto size = static_cast<std::uint64_t>(std::lround(std::min(std::abs(bytes_per_s), kMost)));
  return fmt::format("{}{}/s", size == 0 ? "" : bytes_per_s < 0 ? "-" : "+", humane_bytes(size));
}

std::string say_share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0%";
  return fmt::format("{:.1f}%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string hanging(std::string_view first, std::string_view text, const TextStyle& style) {
  const std::size_t indent = columns_of(first);
  std::string out(first);
  std::size_t used = indent;
  for (const std::string_view word : split(text, ' ')) {
    const std::size_t width = columns_of(word);
    if (used > indent && used + 1 + width > style.width) {
      out.append(1, '\n').append(indent, ' ');
      used = indent;
    } else if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width;
  }
  return out + "\n";
}

std::string labelled(std::string_view label, std::string_view text, const TextStyle& style) {
  return hanging(fmt::format("{:<{}}", fmt::format("  {} ", label), kLabelWidth), text, style);
}

std::string sum_line(std::string_view label, std::string_view sum, std::string_view remark, const TextStyle& style) {
  const int sum_width = style.raw ? 16 : 10;
  return hanging(fmt::format("{:<{}} {:>{}}  ", fmt::format("  {}", label), kLabelWidth, sum, sum_width), remark,
                 style);
}

std::string heading(std::string_view text, const TextStyle& style) {
  return emphasised(text, Emphasis::heading, style) + "\n";
}

std::string counted_heading(std::string_view what, std::size_t shown, std::size_t total, const TextStyle& style) {
  const std::string how_many = shown == total ? fmt::format("all {}", total) : fmt::format("{} of {}", shown, total);
  return "\n" + heading(fmt::format("{}, {}", what, how_many), style);
}

namespace {

// Returns the length of the recording if it is visibly longer than the time from the first to the last event.
std::string recorded_part(const TraceSummary& trace, const TextStyle& style) {
  constexpr double kMuch = 1.005;
  if (static_cast<double>(trace.recorded_ns) < kMuch * static_cast<double>(trace.duration_ns)) return {};
  return fmt::format(", of {} recorded", say_duration(trace.recorded_ns, style));
}

}  // namespace

std::string machine_lines(const TraceSummary& trace, const TextStyle& style) {
  const auto known = [](const std::string& text) { return text.empty() ? std::string("unknown") : printable(text); };
  std::string out = labelled(
      "machine",
      fmt::format("Linux {}, {}, {}-bit {}-endian, {}{}", known(trace.kernel), known(trace.arch), trace.word_bits,
                  trace.byte_order == ByteOrder::big ? "big" : "little", say_number_of(trace.cpus, "CPU", style),
                  trace.page_size == 0 ? "" : ", pages of " + say_bytes(trace.page_size, style)),
      style);
  if (trace.events > 0)
    out += labelled("time",
                    trace.clock_in_ns
                        ? fmt::format("{} from {} on clock {}{}", say_duration(trace.duration_ns, style),
                                      say_seconds(trace.first_ns), known(trace.clock), recorded_part(trace, style))
                        : fmt::format("{} ticks from {} on clock {}, which does not count nanoseconds",
                                      say_count(trace.duration_ns, style), trace.first_ns, known(trace.clock)),
                    style);
  if (trace.events == 0 && trace.whole_ns > 0 && trace.clock_in_ns)
    out += labelled(
        "time",
        fmt::format("no event is selected; the trace has events of {} from {} on clock {}",
                    say_duration(trace.whole_ns, style), say_seconds(trace.whole_first_ns), known(trace.clock)),
        style);
  if (trace.buffers.size() > 1) {
    std::string names;
    for (const std::string& name : trace.buffers)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name.empty() ? "the top-level buffer" : printable(name));
    out += labelled(
        "buffers", names + ": an event in several buffers counts once per buffer; --buffer NAME reads only one", style);
  }
  return out;
}

std::string missing_cpus_text(const TraceSummary& trace) {
  if (trace.missing_cpus.empty()) return {};
  return fmt::format(
      "MISSING: the trace lacks the events of {}; objects freed there look live, and all results that pair allocations "
      "with frees are uncertain",
      trace.missing_cpus);
}

std::string trace_heading(const TraceSummary& trace, const TextStyle& style) {
  std::string out = heading(printable(trace.path), style);
  if (const std::string missing = missing_cpus_text(trace); !missing.empty())
    out += emphasised(hanging("  ", missing, style), Emphasis::bad, style);
  if (trace.complete) return out;
  const char* const incomplete = "  INCOMPLETE: reading was interrupted, and the rest of the trace is not counted";
  return out + emphasised(incomplete, Emphasis::bad, style) + "\n";
}

std::string trace_lines(const TraceSummary& trace, std::string_view events, const TextStyle& style) {
  return trace_heading(trace, style) + machine_lines(trace, style) + labelled("events", events, style) +
         lost_line(trace, style);
}

const char* const kNothingSelected =
    "Nothing to report: no event of the trace matches the filter options; use fewer of them.";

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

std::string no_allocations_line(std::string_view side, const TextStyle& style) {
  return hanging(
      "  ", fmt::format("{} has no allocations of this allocator; perhaps it was recorded without these events", side),
      style);
}

std::string lost_line(const TraceSummary& trace, const TextStyle& style) {
  if (trace.lost_events == 0 && !trace.loss_known)
    return labelled("lost", "no losses are known, but the trace may be incomplete (see below)", style);
  if (trace.lost_events == 0) return labelled("lost", "nothing", style);
  constexpr std::size_t kMostCpusNamed = 8;
  std::string where;
  std::size_t named = 0;
  for (std::size_t cpu = 0; cpu < trace.lost_per_cpu.size(); ++cpu) {
    if (trace.lost_per_cpu[cpu] == 0) continue;
    if (++named > kMostCpusNamed) {
      where += ", …";
      break;
    }
    where += fmt::format("{}cpu {}: {}", where.empty() ? "" : ", ", cpu, say_count(trace.lost_per_cpu[cpu], style));
  }
  const std::uint64_t known = std::accumulate(trace.lost_per_cpu.begin(), trace.lost_per_cpu.end(), std::uint64_t{0});
  if (known < trace.lost_events)
    where +=
        fmt::format("{}of unknown cpu: {}", where.empty() ? "" : ", ", say_count(trace.lost_events - known, style));
  constexpr const char* kEffects =
      "; objects look live if their free was lost, and older than the trace if their allocation was lost";
  std::string effect = "all totals are too small by the lost events";
  if (trace.lost_of_any_task)
    effect = known == 0 ? "some or all of them may be from tasks that were not recorded; totals may be too small"
                        : effect + "; events of unknown cpu may be from tasks that were not recorded";
  const std::string what = fmt::format("{}{} ({})", trace.lost_at_least ? "an unknown number, at least " : "",
                                       say_number_of(trace.lost_events, "event", style), where);
  const std::string label = emphasised(fmt::format("{:<{}}", "  lost", kLabelWidth), Emphasis::bad, style);
  std::string out = labelled("lost", fmt::format("{}: {}{}", what, effect, kEffects), style);
  return style.colour ? label + out.substr(kLabelWidth) : out;
}

std::string capitalised(Allocator allocator) {
  std::string name(name_of(allocator));
  name.front() = static_cast<char>(name.front() - 'a' + 'A');
  return name;
}

std::string memory_lines(const MemoryState& memory, const TextStyle& style) {
  if (memory.rows.empty()) return {};
  Table table{{{"Line", true}, {"Start"}, {"End"}, {"Change"}}, {}};
  const bool has_more = memory.samples > 2;
  if (has_more) table.columns.push_back({"Most", false, 1});
  for (const MemoryStateRow& row : memory.rows) {
    const auto change = static_cast<std::int64_t>(row.last - row.first);
    table.rows.push_back({{ascii(row.name), say_bytes(row.first, style), say_bytes(row.last, style),
                           say_change(change, Unit::bytes, style)}});
    if (has_more) table.rows.back().cells.push_back(say_bytes(row.most, style));
  }
  const std::string title = fmt::format("/proc/meminfo, {}", say_number_of(memory.samples, "sample", style));
  return "\n" + heading(title, style) + to_text(table, style);
}

std::string concepts_line(const TextStyle& style) {
  return style.raw ? "" : "\n" + hanging("", "docs/concepts.md explains the terms.", style);
}

}  // namespace kmt
