// SPDX-License-Identifier: GPL-2.0-or-later
// Finds trace clocks, and the best one for this machine.
#pragma once

#include <string>
#include <vector>

namespace kmt {

struct TraceClocks {
  std::vector<std::string> offered;  // clocks that the kernel offers, in the order of its file trace_clock
  std::string current;               // clock of the top-level buffer
  std::string recommended;           // cheapest clock that is ordered across CPUs on this machine
  std::string reason;                // reason for the recommendation
  std::string clocksource;           // source of the kernel's time, such as "tsc" or "hpet"; may be empty
  unsigned read_ns = 0;              // measured time to read the monotonic clock; 0: unknown
  std::string text;                  // unchanged text of trace_clock, such as "[local] global …"
};

// Returns the trace clocks of the kernel. Throws Error if the file is unreadable.
TraceClocks read_clocks(const std::string& tracefs);

// Returns the purpose of a trace clock in a few words; empty if it is unknown.
std::string describe_clock(const std::string& clock);

}  // namespace kmt
