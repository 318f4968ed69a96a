// SPDX-License-Identifier: GPL-2.0-or-later
// Trace clocks, and the best one for this machine.
#pragma once

#include <string>
#include <vector>

namespace kmt {

struct TraceClocks {
  std::vector<std::string> offered;  // in the kernel's order
  std::string current;               // of the top buffer
  std::string recommended;           // the cheapest that is ordered across CPUs here
  std::string reason;                // for the recommendation
  std::string clocksource;           // the source of the kernel's time: "tsc", "hpet", …; may be empty
  unsigned read_ns = 0;              // measured time of reading the monotonic clock; 0: unknown
  std::string text;                  // the file, byte for byte: "[local] global …"
};

// Throws Error if the file is unreadable.
TraceClocks read_clocks(const std::string& tracefs);

// Returns the purpose of a trace clock in a few words; empty if it is unknown.
std::string describe_clock(const std::string& clock);

}  // namespace kmt
