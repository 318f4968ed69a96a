// SPDX-License-Identifier: GPL-2.0-or-later
// Summarises a trace for the results about it: machine, time, number of events, and losses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/report/report.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// True if only some tasks were recorded, according to the trace or to the command line in a .kmt file.
bool only_some_tasks(const TraceInfo& info);

// Returns the kinds of findings that mean that events may be missing (kImpliesMissingEvents).
std::vector<Imperfection> hiding_events(const Findings& findings);

// Returns the summary of a trace. The times and the number of events are not set; see EventSpan::store_in().
TraceSummary summarize(const TraceInfo& info);

// Returns the findings of the trace's reader, including losses that only the kernel's statistics show.
Findings findings_of(const TraceInfo& info);

// Collects the first and last time and the number of events.
struct EventSpan {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t events = 0;

  // Adds an event. In a damaged trace, an event may be earlier than the preceding event.
  void add(const Event& event) {
    first_ns = events++ == 0 ? event.time_ns : std::min(first_ns, event.time_ns);
    last_ns = std::max(last_ns, event.time_ns);
  }
  void add(const EventSpan& other);
  void store_in(TraceSummary& summary) const;
};

// Counts all events, and the events of each type.
struct EventCounts {
  EventSpan span;
  std::vector<std::uint64_t> of_type;  // index: EventTypeId; types without events at the end may be missing

  void add(const Event& event) {
    span.add(event);
    count(event.type);
  }
  // Counts an event whose time is added separately.
  void count(EventTypeId type) {
    if (of_type.size() <= type.value) of_type.resize(type.value + std::size_t{1});
    ++of_type[type.value];
  }
  void add(const EventCounts& other);
};

// The time in which events were recorded. It extends from the first to the last event, and includes the first and last
// memory sample, because these are taken when a recording starts and ends. If a trace was not read to its end, the time
// ends with the last event.
struct RecordedTime {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;

  std::uint64_t length_ns() const { return to_ns - from_ns; }
};
RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, const EventFilter& filter, bool complete);
// Returns the recorded time of a trace that is analysed without a filter.
RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, bool complete);

}  // namespace kmt
