// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/matching/trace_summary.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "trace/note_lines.hpp"
#include "trace/recorder_arguments.hpp"

namespace kmt {

namespace {

// True if events were lost that are not in the kernel's statistics.
bool has_uncounted_loss(const TraceInfo& info) {
  const auto is_counted = [&info](unsigned cpu) {
    return std::ranges::any_of(info.losses.buffers, [cpu](const BufferStatistics& statistics) {
      return statistics.cpu == cpu && statistics.overrun > 0;
    });
  };
  return std::ranges::any_of(info.losses.intervals,
                             [&](const LostEvents& lost) { return !lost.count && !is_counted(lost.cpu); });
}

// Describes the CPUs that perf record -C excluded.
std::string unrecorded_cpus(const Findings& findings) {
  const auto some = std::ranges::find(findings.kept(), Imperfection::some_cpus, &Finding::kind);
  if (some == findings.kept().end()) return {};
  return fmt::format("the CPUs that were not recorded (only {} were recorded)", some->detail);
}

// Names the first few missing CPUs.
std::string missing_cpus(const Findings& findings) {
  constexpr std::uint64_t kMostNamed = 8;
  std::uint64_t rest = findings.count_of(Imperfection::missing_cpu);
  std::string text;
  std::uint64_t named = 0;
  for (const Finding& finding : findings.kept()) {
    if (finding.kind != Imperfection::missing_cpu || !finding.cpu || named == kMostNamed) continue;
    text += fmt::format("{}CPU {}", named++ == 0 ? "" : ", ", *finding.cpu);
    --rest;
  }
  if (named == 0 && rest == 0) return unrecorded_cpus(findings);
  if (named == 0) return rest == 1 ? "a CPU" : fmt::format("{} CPUs", rest);
  return rest == 0 ? text : fmt::format("{} and {} more", text, rest);
}

template <typename InWindow>
RecordedTime recorded_time_within(const TraceInfo& info, const EventSpan& seen, InWindow in_window, bool complete) {
  RecordedTime time{seen.first_ns, seen.last_ns};
  if (seen.events == 0) return time;
  // If a ring buffer overwrote its oldest events, the recorded time starts with the first event that is left in this
  // buffer.
  const bool whole_begin = total_lost_events(info.losses) == 0;
  for (const StateSample& sample : info.recording.samples) {
    if (!in_window(sample.ticks)) continue;
    if (whole_begin) time.from_ns = std::min(time.from_ns, sample.ticks);
    if (complete) time.to_ns = std::max(time.to_ns, sample.ticks);
  }
  return time;
}

}  // namespace

std::vector<Imperfection> hiding_events(const Findings& findings) {
  std::vector<Imperfection> found;
  std::ranges::copy_if(kImpliesMissingEvents, std::back_inserter(found),
                       [&findings](Imperfection kind) { return findings.count_of(kind) > 0; });
  return found;
}

bool only_some_tasks(const TraceInfo& info) {
  return info.findings.count_of(Imperfection::some_tasks) > 0 || names_some_tasks(info.recording.notes);
}

TraceSummary summarize(const TraceInfo& info) {
  TraceSummary summary;
  summary.path = info.path;
  summary.format = info.format;
  summary.kernel = info.machine.kernel;
  summary.arch = info.machine.arch;
  summary.byte_order = info.machine.byte_order;
  summary.word_bits = info.machine.word_bits;
  summary.page_size = info.machine.page_size;
  summary.cpus = info.machine.cpus;
  summary.clock = info.clock.name;
  summary.clock_in_ns = info.clock.in_ns;
  summary.buffers = info.recording.buffers;
  summary.recorded_at = note_in(info.recording.notes, "recorded_at");
  summary.recorder_arguments = note_in(info.recording.notes, "arguments");
  summary.lost_per_cpu = lost_events_per_cpu(info.losses, info.machine.cpus);
  summary.stacks = info.tables.stacks.kernel_stacks();
  summary.user_stacks = info.tables.stacks.user_stacks();
  summary.lost_events = total_lost_events(info.losses);
  summary.lost_at_least = has_uncounted_loss(info);
  summary.lost_of_any_task = info.losses.somewhere > 0 && only_some_tasks(info);
  if (!hiding_events(info.findings).empty()) summary.loss_known = false;
  summary.missing_cpus = missing_cpus(info.findings);
  return summary;
}

Findings findings_of(const TraceInfo& info) {
  Findings findings = info.findings;
  const std::uint64_t known =
      findings.count_of(Imperfection::lost_events) + findings.count_of(Imperfection::interrupted_recording);
  const std::uint64_t lost = total_lost_events(info.losses);
  if (lost > known) findings.count(Imperfection::lost_events, lost - known);
  return findings;
}

RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, const EventFilter& filter, bool complete) {
  return recorded_time_within(
      info, seen, [&filter](std::uint64_t ns) { return filter.in_window(ns); }, complete);
}

RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, bool complete) {
  return recorded_time_within(
      info, seen, [](std::uint64_t) { return true; }, complete);
}

void EventSpan::add(const EventSpan& other) {
  if (other.events == 0) return;
  first_ns = events == 0 ? other.first_ns : std::min(first_ns, other.first_ns);
  last_ns = std::max(last_ns, other.last_ns);
  events += other.events;
}

void EventCounts::add(const EventCounts& other) {
  span.add(other.span);
  of_type.resize(std::max(of_type.size(), other.of_type.size()));
  for (std::size_t type = 0; type < other.of_type.size(); ++type) of_type[type] += other.of_type[type];
}

void EventSpan::store_in(TraceSummary& summary) const {
  summary.first_ns = first_ns;
  summary.duration_ns = last_ns - first_ns;
  summary.events = events;
}

}  // namespace kmt
