// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics for a monitoring system. The counters never decrease, and the number of names is limited.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/heap/profile.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

struct ExportedRow {
  std::string name;          // "other" is the sum of all names without a row of their own
  std::uint64_t events = 0;  // number of allocations since the row was created
  std::uint64_t bytes = 0;   // bytes allocated since the row was created
  double live_bytes = 0;     // estimated live bytes of allocations since the start of the observation
};

// Numbers of investigations since the start.
struct InvestigationCounts {
  std::uint64_t found = 0;      // growth was confirmed
  std::uint64_t not_found = 0;  // no growth was confirmed
  std::uint64_t failed = 0;     // there is no result
};

struct ExportedMetrics {
  std::string kernel;                   // kernel release
  std::string why_no_events;            // why BPF programs do not count events; empty: they count
  std::vector<ExportedRow> call_sites;  // call sites of slab objects
  std::vector<ExportedRow> caches;      // slab caches
  std::vector<ExportedRow> page_orders;
  std::vector<ExportedRow> modules;      // modules of the call sites of slab objects
  std::vector<ExportedRow> subsystems;   // subsystems of the call sites of slab objects
  std::vector<ExportedRow> directories;  // source directories of the call sites of slab objects
  // Counts since the start, of all caches. Empty before Linux 6.13, which does not report the cache of a freed object.
  std::optional<std::vector<CacheCount>> cache_objects;
  UncountedObjects uncounted;  // objects that `cache_objects` lacks
  HeapLosses losses;
  std::uint64_t replaced = 0;                         // like TopResult::replaced
  std::uint64_t memory = 0;                           // bytes of kernel memory that kmemtrace uses
  double cpu_seconds = 0;                             // CPU time of kmemtrace
  double start_unix_seconds = 0;                      // start of the observation, Unix time
  std::optional<InvestigationCounts> investigations;  // empty: none can start
};

}  // namespace kmt
