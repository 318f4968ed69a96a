// SPDX-License-Identifier: GPL-2.0-or-later
// Which events a user asked for: by time, CPU, task.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/trace_info.hpp"

namespace kmt {

struct ReportFilter {
  std::optional<std::uint64_t> from_ns;  // on the trace's clock, inclusive
  std::optional<std::uint64_t> to_ns;    // exclusive
  std::set<unsigned> cpus;               // empty: all
  std::set<std::int32_t> pids;           // thread ids; empty: all
  std::vector<std::string> comms;        // globs on task names; empty: all
};

// Who an event belongs to when it is not a task: "[nmi]", "[hardirq]", "[softirq]"; nullptr in task context.
const char* interrupt_name(const Event& event);

class EventFilter {
 public:
  // The info's comms must be complete; it must outlive the filter.
  EventFilter(ReportFilter filter, const TraceInfo& info);

  bool in_window(const Event& event) const {
    return (!filter_.from_ns || event.time_ns >= *filter_.from_ns) &&
           (!filter_.to_ns || event.time_ns < *filter_.to_ns);
  }
  // An event in interrupt context belongs to the interrupt, never to the task that was interrupted.
  bool selects(const Event& event) { return selects_all_ || selects_some(event); }

 private:
  bool selects_some(const Event& event);
  bool selects_comm(const Event& event);
  bool matches_comm(const std::string& comm) const;

  ReportFilter filter_;
  const TraceInfo& info_;
  bool selects_all_;
  std::unordered_map<std::int32_t, bool> comm_of_task_;  // whether its name matches
};

}  // namespace kmt
