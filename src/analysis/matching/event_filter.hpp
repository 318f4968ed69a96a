// SPDX-License-Identifier: GPL-2.0-or-later
// Selects the events that a user requested, by time, CPU, task and allocated memory.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/matching/cache_names.hpp"
#include "results/report/window.hpp"
#include "trace/code/symbol_names.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// The start or end of a time window.
struct TimeEdge {
  std::uint64_t ns = 0;
  bool relative = false;  // true: time since the first event of the trace; false: time on the trace's clock

  std::uint64_t on_clock(std::uint64_t first_ns) const;
  bool operator==(const TimeEdge&) const = default;
};

// A time window as the user gives it. Either end may be missing.
struct TimeWindow {
  std::optional<TimeEdge> from;  // inclusive
  std::optional<TimeEdge> to;    // exclusive
};

// Returns the window on the clock of a trace whose first event is at `first_ns`. Throws Error if it ends before it
// starts.
WindowRange range_of(const TimeWindow& window, std::uint64_t first_ns);

struct ReportFilter {
  std::optional<TimeEdge> from;              // inclusive
  std::optional<TimeEdge> to;                // exclusive
  std::set<unsigned> cpus;                   // empty: all
  std::set<std::int32_t> pids;               // thread IDs; empty: all
  std::vector<std::string> comms;            // globs on task names; empty: all
  std::vector<std::string> contexts;         // "task", "softirq", "hardirq", "nmi"; empty: all
  std::vector<std::string> call_sites;       // globs on symbols, with or without offset and module; empty: all
  std::vector<std::string> caches;           // globs on names of slab caches; empty: all
  std::optional<std::uint64_t> least_bytes;  // limits for the size of a single allocation in bytes, inclusive
  std::optional<std::uint64_t> most_bytes;   // inclusive

  bool operator==(const ReportFilter&) const = default;
  bool selects_by_allocation() const { return !call_sites.empty() || !caches.empty() || least_bytes || most_bytes; }
  bool selects_all() const {
    return !from && !to && cpus.empty() && pids.empty() && comms.empty() && contexts.empty() &&
           !selects_by_allocation();
  }
};

// Returns the interrupt that an event belongs to: "[nmi]", "[hardirq]" or "[softirq]". Returns nullptr in task context.
const char* interrupt_name(const Event& event);
// Returns "nmi", "hardirq", "softirq" or "task".
std::string_view context_name(const Event& event);

class EventFilter {
 public:
  // All arguments must outlive the filter. `tasks` contains names of tasks that may not be in `info` yet.
  EventFilter(ReportFilter filter, const TraceInfo& info, const TraceTasks& tasks, const SymbolNames& symbols,
              CacheNames& caches);

  const ReportFilter& wanted() const { return filter_; }
  // Sets the time of the trace's first event, to which relative times refer. Call this function before all others.
  void begin(std::uint64_t first_ns);
  bool in_window(std::uint64_t time_ns) const {
    return time_ns >= window_.from_ns && (!filter_.to || time_ns < window_.to_ns);
  }
  // True if the filter selects an event. An event in interrupt context belongs to the interrupt, never to the
  // interrupted task. Filters by call site, cache or size select only allocations.
  bool selects(const Event& event) { return selects_all_ || selects_some(event); }

 private:
  bool selects_some(const Event& event);
  bool selects_allocation(const Event& event);
  bool selects_comm(const Event& event) const;
  bool selects_call_site(CallSiteId id);

  ReportFilter filter_;
  const TraceInfo& info_;
  const TraceTasks& tasks_;
  const SymbolNames& symbols_;
  CacheNames& caches_;
  bool selects_all_;
  bool by_allocation_;
  WindowRange window_;
  enum class Answer : std::uint8_t { unknown, no, yes };
  std::vector<Answer> call_site_answers_;  // index: CallSiteId
};

}  // namespace kmt
