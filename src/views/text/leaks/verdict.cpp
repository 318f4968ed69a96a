// SPDX-License-Identifier: GPL-2.0-or-later
#include "views/text/leaks/verdict.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "views/common/shell_word.hpp"
#include "views/text/leaks/rows.hpp"
#include "views/text/lines.hpp"

namespace kmt {

namespace {

constexpr std::size_t kMostCauses = 3;  // maximum number of causes that are shown

// The number of growing groups with a given verdict, and the group to name first.
struct Growing {
  std::size_t groups = 0;
  const LeakRow* fastest = nullptr;
};

Growing growing(const LeaksResult& result, LeakVerdict verdict) {
  Growing found;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      if (row.verdict != verdict || row.trend.low <= result.threshold_bytes_per_s) continue;
      ++found.groups;
      if (found.fastest == nullptr || is_named_before(row, *found.fastest)) found.fastest = &row;
    }
  return found;
}

std::string threshold_text(const LeaksResult& result) {
  return result.threshold_bytes_per_s > 0 ? say_growth(result.threshold_bytes_per_s).substr(1) : "0 B/s";
}

std::string source_text(const LeakSource& source, const TextStyle& style) {
  if (source.process.comm.empty()) return "unknown processes";
  const std::string name = printable(plain_text(source.process));
  return source.processes == 1 ? name : fmt::format("{} processes named {}", say_count(source.processes, style), name);
}

// Returns "alloc_pipe_info+0xd7 (slab) by +93.3 KiB/s".
std::string growth_of(const LeakRow& row, const LeaksResult& result, const TextStyle& style) {
  return fmt::format("{} by {}", name_of_leak(row, result.by, style), say_growth(judged_trend(row).bytes_per_s));
}

// Returns a sentence about groups that rose earlier, but no longer rise. Empty if none of these groups rose faster than
// the threshold.
std::string risen_text(const LeaksResult& result, const TextStyle& style) {
  const double seconds = static_cast<double>(result.axis.end_ns - result.axis.start_ns) / 1e9;
  std::size_t groups = 0;
  const LeakRow* largest = nullptr;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      if (row.verdict != LeakVerdict::past ||
          static_cast<double>(row.certain_bytes()) <= result.threshold_bytes_per_s * seconds)
        continue;
      ++groups;
      if (largest == nullptr || row.certain_bytes() > largest->certain_bytes()) largest = &row;
    }
  if (largest == nullptr) return {};
  const std::string name = name_of_leak(*largest, result.by, style);
  const std::string bytes = say_bytes(largest->certain_bytes(), style);
  if (groups == 1) return fmt::format(" {} rose to {} and then hardly grew.", name, bytes);
  return fmt::format(" {} groups rose and then hardly grew. The largest is {}, which rose to {}.",
                     say_count(groups, style), name, bytes);
}

// Returns "alloc_pipe_info+0xd7 (slab) by +93.3 KiB/s and 3 other groups".
std::string and_others(const Growing& found, const LeaksResult& result, const TextStyle& style) {
  return growth_of(*found.fastest, result, style) +
         (found.groups == 1 ? "" : fmt::format(" and {}", say_number_of(found.groups - 1, "other group", style)));
}

// Returns the reason why events are missing, and what may grow.
std::string missing_events_text(const LeaksResult& result, const TextStyle& style) {
  std::string why = "events are missing";
  if (!result.incomplete.empty())
    why = describe(result.incomplete.front()).sentence;
  else if (result.cut_at_ns)
    why = "the file was cut off, and most of its events are later than the last event of one CPU";
  else if (result.trace.lost_events > 0)
    why = fmt::format("{} were lost", say_number_of(result.trace.lost_events, "event", style));
  const std::string covered = say_duration(result.axis.end_ns - result.axis.start_ns, style);
  std::string text = fmt::format("Growth cannot be judged: {}. The trace covers {}.", why, covered);
  if (const Growing uncertain = growing(result, LeakVerdict::uncertain); uncertain.groups > 0)
    text += fmt::format(" {} may grow, but may already be freed.", and_others(uncertain, result, style));
  return text;
}

// Returns a sentence about groups that rose in steps; empty if there are none.
std::string steps_text(const LeaksResult& result, const TextStyle& style) {
  std::size_t groups = 0;
  const LeakRow* largest = nullptr;
  for (const LeakTable& table : result.tables)
    for (const LeakRow& row : table.rows) {
      if (row.steps == 0) continue;
      ++groups;
      if (largest == nullptr || row.certain_bytes() > largest->certain_bytes()) largest = &row;
    }
  if (largest == nullptr) return {};
  return fmt::format(
      "Unsure: {} rose by {} in {} steps{}. Watch longer to see whether that goes on.",
      name_of_leak(*largest, result.by, style), say_bytes(largest->certain_bytes(), style), largest->steps,
      groups == 1 ? "" : fmt::format(", and {} in steps too", say_number_of(groups - 1, "other group", style)));
}

// Returns the reason why growth cannot be excluded; empty if it can.
std::string unclear_text(const LeaksResult& result, const TextStyle& style) {
  switch (result.unclear()) {
    case LeaksUnclear::none: return {};
    case LeaksUnclear::no_clock: return "Growth cannot be judged: the trace's clock does not count nanoseconds.";
    case LeaksUnclear::too_short:
      return "Growth cannot be judged: the trace is too short; a group must be followed for at least a second.";
    case LeaksUnclear::no_events: return "Growth cannot be judged: no events.";
    case LeaksUnclear::missing_events: return missing_events_text(result, style);
    case LeaksUnclear::no_stacks: return "Growth cannot be judged by stack: the trace has no stacks.";
    case LeaksUnclear::mostly_lost: break;
  }
  return fmt::format("Growth cannot be judged: {} were lost, and the trace has only {}.",
                     say_number_of(result.trace.lost_events, "event", style), say_count(result.events, style));
}

// Returns the command that leads to a trace whose growth can be judged.
std::string unclear_next_step(const LeaksResult& result) {
  switch (result.unclear()) {
    case LeaksUnclear::none: return {};
    case LeaksUnclear::no_clock:
      return "`kmemtrace record --stacks --duration 5m` uses a clock that counts nanoseconds.";
    case LeaksUnclear::too_short: return "`kmemtrace record --stacks --duration 5m` records for long enough.";
    case LeaksUnclear::no_events: return "`kmemtrace record --stacks --duration 5m` records memory events.";
    case LeaksUnclear::mostly_lost:
      return "`kmemtrace record -b 64M --stacks --duration 5m` records with larger buffers.";
    case LeaksUnclear::no_stacks:
      return "`kmemtrace record --stacks --duration 5m` records stacks; --by call-site works without stacks.";
    case LeaksUnclear::missing_events: break;
  }
  return fmt::format("`kmemtrace check {}` shows what is missing; then record again.",
                     printable(shell_word(result.trace.path)));
}

// Describes the growth that has one cause: "alloc_pipe_info+0xd7 (slab) grows for certain by +93.3 KiB/s, […]".
std::string cause_text(const LeakCause& cause, const LeaksResult& result, const TextStyle& style) {
  const LeakRow& fastest = result.fastest_of(cause);
  const std::string name = name_of_leak(fastest, result.by, style);
  const std::string speed = say_growth(judged_trend(fastest).bytes_per_s);
  const std::string live = say_bytes(cause.source.bytes, style);
  if (cause.groups == 1)
    return fmt::format("{} grows for certain by {}, at least {}; {} are live.", name, speed,
                       say_growth(judged_trend(fastest).low), live);
  return fmt::format("{} groups grow for certain by {} in all, the fastest {} by {}; {} are live.",
                     say_count(cause.groups, style), say_growth(cause.bytes_per_s), name, speed, live);
}

// Returns a line for each cause of certain growth, and a line about memory that outlives the recording.
std::string certain_text(const LeaksResult& result, const TextStyle& style) {
  std::string out;
  const std::size_t shown = std::min(result.causes.size(), kMostCauses);
  for (std::size_t i = 0; i < shown; ++i) {
    const LeakCause& cause = result.causes[i];
    const std::string who = names_processes(result.by) ? "" : source_text(cause.source, style) + ": ";
    out += hanging(i == 0 ? "Growth: " : "        ", who + cause_text(cause, result, style), style);
  }
  if (result.causes.size() > shown)
    out += hanging("        ", fmt::format("{}.", say_number_of(result.causes.size() - shown, "other cause", style)),
                   style);
  return out + hanging("",
                       fmt::format("Memory that outlives the recording ({}) looks the same; a longer recording "
                                   "distinguishes it.",
                                   say_duration(result.trace.recorded_ns, style)),
                       style);
}

// Returns one or two sentences about a trace without certain growth.
std::string no_growth_text(const LeaksResult& result, const TextStyle& style) {
  if (const Growing uncertain = growing(result, LeakVerdict::uncertain); uncertain.groups > 0)
    return fmt::format("No leak found: nothing grows for certain. {} may grow, but may already be freed.",
                       and_others(uncertain, result, style));
  if (const Growing uneven = growing(result, LeakVerdict::uneven); uneven.groups > 0)
    return fmt::format(
        "No leak found: nothing grows for certain. {} may grow, but among {}, this may be chance. Record a longer "
        "trace.",
        and_others(uneven, result, style), say_number_of(result.judged, "group", style));
  if (const std::string steps = steps_text(result, style); !steps.empty()) return "No certain growth. " + steps;
  if (const Growing explained = growing(result, LeakVerdict::explained); explained.groups > 0)
    return fmt::format("No leak found: all growth is of an expected kind: {}.{}", and_others(explained, result, style),
                       risen_text(result, style));
  if (result.tables.empty()) return "No leak found: nothing that was allocated in the trace is live at its end.";
  return fmt::format("No leak found: no group {}grows by more than {} for certain.{}",
                     result.groups_not_followed > 0 ? "that was judged " : "", threshold_text(result),
                     risen_text(result, style));
}

// Returns the names of the processes that allocated the growing memory. Empty if nothing grows, or if the names of the
// groups already contain the processes.
std::string who_holds(const LeaksResult& result, const TextStyle& style) {
  if (result.worst < LeakVerdict::uneven || result.holders.empty() || names_processes(result.by)) return {};
  std::string text;
  for (std::size_t i = 0; i < std::min(result.sources.size(), kMostCauses); ++i) {
    const LeakSource& source = result.sources[i];
    const double share =
        100 * static_cast<double>(source.bytes) / static_cast<double>(std::max(result.worst_bytes, std::uint64_t{1}));
    if (i > 0 && share < 1) break;
    text += fmt::format("{}{} with {:.0f} %", i == 0 ? "" : ", ", source_text(source, style), share);
  }
  return hanging(
      "Allocated by: ",
      fmt::format("{} of the {} that are live in {}.", text, say_bytes(result.worst_bytes, style),
                  result.worst_groups == 1 ? "this group" : fmt::format("these {} groups", result.worst_groups)),
      style);
}

// Returns a sentence that states which part of a cut file was judged. Empty if the file is complete.
std::string cut_text(const LeaksResult& result, const TextStyle& style) {
  if (!result.cut_at_ns) return {};
  return hanging("",
                 fmt::format("Judged until {}: the file was cut off, and events after this time may be missing.",
                             say_seconds(*result.cut_at_ns)),
                 style);
}

// Returns the option that selects the memory of many processes with the same name. Empty if most of the growing memory
// belongs to one process, or if a shell would not read the name unchanged.
std::string filter_by_name(const LeaksResult& result) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
  if (names_processes(result.by) || result.sources.empty() || result.sources.front().processes == 1) return {};
  const std::string& name = result.sources.front().process.comm;
  return name.empty() || name.find_first_not_of(kPlain) != std::string::npos ? "" : " --comm " + name;
}

// Returns the command that shows more about the growing memory or that can show slower growth.
std::string next_step(const LeaksResult& result, const TextStyle& style) {
  const bool is_unknown = std::ranges::any_of(result.causes, [&result](const LeakCause& cause) {
    return is_of_unknown_code(result.fastest_of(cause), result.by);
  });
  if (is_unknown && result.trace.stacks == 0)
    return hanging("Next: ", "`kmemtrace record --stacks --duration 5m` shows which code allocates the pages.", style);
  if (!any_is_growing(result))
    return hanging("Next: ", "`kmemtrace record --stacks --duration 10m` records for longer and shows slower leaks.",
                   style);
  return hanging("Next: ",
                 fmt::format("`kmemtrace report {}{} --html page.html` shows the memory over time.",
                             printable(shell_word(result.trace.path)), filter_by_name(result)),
                 style);
}

}  // namespace

std::string leaks_verdict(const LeaksResult& result, const TextStyle& style) {
  if (result.found()) return certain_text(result, style) + cut_text(result, style) + next_step(result, style);
  if (const std::string unclear = unclear_text(result, style); !unclear.empty())
    return hanging("", unclear, style) + who_holds(result, style) + hanging("Next: ", unclear_next_step(result), style);
  return hanging("", no_growth_text(result, style), style) + who_holds(result, style) + cut_text(result, style) +
         next_step(result, style);
}

}  // namespace kmt
