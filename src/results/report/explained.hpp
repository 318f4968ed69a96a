// SPDX-License-Identifier: GPL-2.0-or-later
// Anomalies with a known cause.
#pragma once

#include <cstdint>

namespace kmt {

// Events that look wrong only because the kernel frees or allocates without an event on known paths
// (trace/code/untraced_paths.hpp).
struct ExplainedAnomalies {
  std::uint64_t older_frees = 0;  // number of frees of objects from before the trace
  // Number of addresses that were allocated again after a free without an event.
  std::uint64_t untraced_frees = 0;
  // Number of objects that were freed again after an allocation without an event.
  std::uint64_t untraced_allocations = 0;
  // Number of frees of the recorder's own objects. The recording excludes their allocations, so these frees are not
  // anomalies.
  std::uint64_t recorder_frees = 0;
  // Number of all allocations and frees except those of pages. Shares are relative to this number.
  std::uint64_t events = 0;

  std::uint64_t sum() const { return older_frees + untraced_frees + untraced_allocations + recorder_frees; }
};

}  // namespace kmt
