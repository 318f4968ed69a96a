// SPDX-License-Identifier: GPL-2.0-or-later
// How many memory events there were, and of how many bytes: what was counted inside the kernel, without a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/series/memory_state.hpp"

namespace kmt {

struct StatRow {
  std::string event;       // "kmem:kmalloc"
  bool has_bytes = false;  // the event says of how many
  bool may_fail = false;
  std::uint64_t events = 0;  // exact, except for `missed` ones
  std::uint64_t failed = 0;  // of these; no bytes are counted for them
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  // Events of any process that came while the same event was being counted on the same CPU: their bytes are unknown.
  std::uint64_t missed = 0;
};

struct StatResult {
  std::string selection;       // "process 812", "cgroup a/b"; empty: the whole machine
  std::uint64_t start_ns = 0;  // since counting began
  std::uint64_t end_ns = 0;
  bool whole = true;  // from the start to the end; else an interval
  std::vector<StatRow> rows;
  std::vector<std::string> missing;  // events that this kernel does not have
  std::uint64_t not_followed = 0;    // processes that were forked by selected ones, but could not be
  std::uint64_t memory = 0;          // bytes that counting took in the kernel
  MemoryState state;                 // of the machine, at the start and the end
};

// Counts between two readings.
std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to);

}  // namespace kmt
