// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and bytes of memory events, counted inside the kernel without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/series/memory_state.hpp"

namespace kmt {

struct StatRow {
  std::string event;       // "kmem:kmalloc"
  bool has_bytes = false;  // the event contains a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // number of events; exact, but does not include `missed`
  std::uint64_t failed = 0;  // failed allocations, included in `events`; their bytes are not counted
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  // Number of events, of any process, that came while another event of this type was being counted on the same CPU.
  // Their bytes are unknown.
  std::uint64_t missed = 0;
};

struct StatResult {
  std::string selection;       // "process 812", "cgroup a/b"; empty: the whole machine
  std::uint64_t start_ns = 0;  // start of the interval, since the start of counting
  std::uint64_t end_ns = 0;
  bool whole = true;  // true: counts since the start; false: counts of one interval
  std::vector<StatRow> rows;
  std::vector<std::string> missing;  // requested events that this kernel does not have
  std::uint64_t not_followed = 0;    // number of forked children of selected processes that could not be followed
  std::uint64_t memory = 0;          // bytes of kernel memory used for counting
  MemoryState state;                 // memory state of the machine at the start and at the end
};

// Returns the counts between two readings of the counters.
std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to);

}  // namespace kmt
