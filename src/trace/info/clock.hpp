// SPDX-License-Identifier: GPL-2.0-or-later
// The clock that the times of a trace refer to.
#pragma once

#include <string>

namespace kmt {

struct TraceClock {
  std::string name;   // "local", "mono", …
  bool in_ns = true;  // true: times and durations are in ns; false: they are in ticks of another length
};

}  // namespace kmt
