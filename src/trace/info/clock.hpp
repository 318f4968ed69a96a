// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of a trace's times.
#pragma once

#include <string>

namespace kmt {

struct TraceClock {
  std::string name;   // "local", "mono", …
  bool in_ns = true;  // false: times and durations are in ticks of another length
};

}  // namespace kmt
