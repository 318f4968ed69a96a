// SPDX-License-Identifier: GPL-2.0-or-later
// The summary of its trace that every result has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/matching/event_filter.hpp"
#include "results/report/report.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// Whether only some tasks were recorded: as the trace says, or by the command line that a .kmt holds.
bool only_some_tasks(const TraceInfo& info);

// Returns the members of kHidesEvents that were found.
std::vector<Imperfection> hiding_events(const Findings& findings);

// All of the summary but the times and the number of events.
TraceSummary summarize(const TraceInfo& info);

// Returns the source's findings; losses that only the kernel's statistics show count too.
Findings findings_of(const TraceInfo& info);

// The times and the number of events, as they pass.
struct EventSpan {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t events = 0;

  // In a damaged trace an event may be earlier than the one before it.
  void add(const Event& event) {
    first_ns = events++ == 0 ? event.time_ns : std::min(first_ns, event.time_ns);
    last_ns = std::max(last_ns, event.time_ns);
  }
  void add(const EventSpan& other);
  void store_in(TraceSummary& summary) const;
};

// Events as they pass, and how many of each type.
struct EventCounts {
  EventSpan span;
  std::vector<std::uint64_t> of_type;  // by EventTypeId; may be shorter than there are types

  void add(const Event& event) {
    span.add(event);
    if (of_type.size() <= event.type.value) of_type.resize(event.type.value + std::size_t{1});
    ++of_type[event.type.value];
  }
  void add(const EventCounts& other);
};

// The time in which events were recorded, as far as the trace shows it: from the first to the last of those that were
// seen. Samples of the kernel's memory are taken as recording starts and ends: if there are any, the time extends from
// the first to the last of them. If a trace was not read to its end, it ends with the last event.
struct RecordedTime {
  std::uint64_t from_ns = 0;
  std::uint64_t to_ns = 0;

  std::uint64_t length_ns() const { return to_ns - from_ns; }
};
RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, const EventFilter& filter, bool complete);
// Where there is no filter.
RecordedTime recorded_time(const TraceInfo& info, const EventSpan& seen, bool complete);

}  // namespace kmt
