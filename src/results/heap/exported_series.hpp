// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics for a monitoring system: counters that only grow, with a bounded number of names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/heap/profile.hpp"

namespace kmt {

struct ExportedRow {
  std::string name;          // "other" is the sum of all names that have no row of their own
  std::uint64_t events = 0;  // since the row is there
  std::uint64_t bytes = 0;   // likewise, given
  double live_bytes = 0;     // estimated, of what was allocated since watching began
};

struct ExportedMetrics {
  std::string kernel;                   // release
  std::vector<ExportedRow> call_sites;  // of slab
  std::vector<ExportedRow> caches;      // of slab
  std::vector<ExportedRow> page_orders;
  HeapLosses losses;
  std::uint64_t replaced = 0;     // as TopResult's
  std::uint64_t memory = 0;       // bytes in the kernel
  double cpu_seconds = 0;         // of this program
  double start_unix_seconds = 0;  // when watching began
};

}  // namespace kmt
