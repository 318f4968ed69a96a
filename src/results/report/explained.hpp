// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of anomalies whose cause is known.
#pragma once

#include <cstdint>

namespace kmt {

// Events that look wrong only because the kernel frees or allocates without an event on known paths
// (trace/code/untraced_paths.hpp).
struct ExplainedAnomalies {
  std::uint64_t older_frees = 0;  // number of frees of objects allocated before the trace
  // Number of addresses that were allocated again because the kernel had freed them without an event.
  std::uint64_t untraced_frees = 0;
  // Number of objects that seem to be freed twice because the kernel had allocated them again without an event.
  std::uint64_t untraced_allocations = 0;
  // Number of frees of the recorder's own objects. The recording excludes their allocations, so these frees are not
  // anomalies.
  std::uint64_t recorder_frees = 0;
  // Number of all allocations and frees, excluding pages. Shares of anomalies are relative to this number.
  std::uint64_t events = 0;

  std::uint64_t sum() const { return older_frees + untraced_frees + untraced_allocations + recorder_frees; }
};

}  // namespace kmt
