// SPDX-License-Identifier: GPL-2.0-or-later
// What every result says about its trace.
#pragma once

#include <algorithm>

#include "results/report.hpp"
#include "trace/trace_info.hpp"

namespace kmt {

// All of the summary but the times and the number of events.
TraceSummary summarize(const TraceInfo& info);

// What the source found; loss that only the kernel's statistics know of is counted too.
Findings findings_of(const TraceInfo& info);

// The times and the number of events, as they pass.
struct EventSpan {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t events = 0;

  // Where a trace is damaged an event may be earlier than the one before it.
  void add(const Event& event) {
    first_ns = events++ == 0 ? event.time_ns : std::min(first_ns, event.time_ns);
    last_ns = std::max(last_ns, event.time_ns);
  }
  void store_in(TraceSummary& summary) const;
};

}  // namespace kmt
