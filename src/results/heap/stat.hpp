// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and bytes of memory events, counted inside the kernel without a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/series/memory_state.hpp"
#include "trace/state/cache_counts.hpp"

namespace kmt {

struct StatRow {
  std::string event;       // "kmem:kmalloc"
  bool has_bytes = false;  // true: the event contains a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // number of events; exact, but does not include `missed`
  std::uint64_t failed = 0;  // number of failed allocations; `events` includes them, but `bytes` does not
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  // Number of events of this type, from any process, that a CPU did not count because it was still counting an earlier
  // one. The bytes of these events are unknown.
  std::uint64_t missed = 0;
};

struct StatResult {
  std::string backend;         // "bpf", "hist" or "ring-buffer"
  std::string selection;       // the counted tasks: "process 812", "cgroup a/b"; empty: the whole machine
  std::uint64_t start_ns = 0;  // start of the interval, in ns since counting started
  std::uint64_t end_ns = 0;
  bool whole = true;  // true: counts since counting started; false: counts of one interval
  std::vector<StatRow> rows;
  CacheCounts caches;
  std::vector<std::string> missing;     // requested events that this kernel does not have
  std::uint64_t not_followed = 0;       // number of children of the selected processes that kmemtrace could not follow
  std::uint64_t lost = 0;               // number of events that are in no count, because a table or buffer was full
  std::optional<std::uint64_t> memory;  // bytes of kernel memory used for counting; empty if it is unknown
  MemoryState state;                    // memory state of the machine at the start and at the end
};

// Returns the counts of the interval between two readings of the counters.
std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to);

}  // namespace kmt
