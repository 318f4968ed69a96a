// SPDX-License-Identifier: GPL-2.0-or-later
// Trace clocks, and which of them suits this machine.
#pragma once

#include <string>
#include <vector>

namespace kmt {

struct TraceClocks {
  std::vector<std::string> offered;  // in the kernel's order
  std::string current;               // of the top buffer
  std::string recommended;           // the cheapest that is ordered across CPUs here
  std::string reason;                // for the recommendation
  std::string clocksource;           // what the kernel's time is read from: "tsc", "hpet", …; may be empty
  unsigned read_ns = 0;              // measured: one reading of the monotonic clock; 0 when it could not be measured
  std::string text;                  // the file, byte for byte: "[local] global …"
};

// Throws Error when the file cannot be read.
TraceClocks read_clocks(const std::string& tracefs);

// What a trace clock is good for, in a few words; empty for one that is not known.
std::string describe_clock(const std::string& clock);

}  // namespace kmt
