// SPDX-License-Identifier: GPL-2.0-or-later
// Anomalies with a known cause.
#pragma once

#include <cstdint>

namespace kmt {

// Events that look wrong only because the kernel frees or allocates without an event on known paths
// (trace/code/untraced_paths.hpp).
struct ExplainedAnomalies {
  std::uint64_t older_frees = 0;           // frees of objects from before the trace
  std::uint64_t untraced_frees = 0;        // addresses allocated again after a free without an event
  std::uint64_t untraced_allocations = 0;  // objects freed again after an allocation without an event
  std::uint64_t events = 0;                // all allocations and frees except those of pages: the basis of shares

  std::uint64_t sum() const { return older_frees + untraced_frees + untraced_allocations; }
};

}  // namespace kmt
