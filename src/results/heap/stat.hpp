// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and bytes of memory events, counted inside the kernel without a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/series/memory_state.hpp"

namespace kmt {

struct StatRow {
  std::string event;       // "kmem:kmalloc"
  bool has_bytes = false;  // true: the event contains a number of bytes
  bool may_fail = false;
  std::uint64_t events = 0;  // number of events; exact, but does not include `missed`
  std::uint64_t failed = 0;  // number of failed allocations; `events` includes them, but `bytes` does not
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  // Number of events of this type, from any process, that the CPU did not count: it was still counting an earlier one.
  // The bytes of these events are unknown.
  std::uint64_t missed = 0;
};

// The objects of a slab cache that were allocated and freed in an interval.
struct StatCache {
  std::string name;
  std::uint32_t object_bytes = 0;  // size of an object with its padding
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  // Change of active_objs in /proc/slabinfo; empty if it is not readable. The kernel counts all tasks, and paths
  // without an event.
  std::optional<std::int64_t> slabinfo_objects;

  std::int64_t net_objects() const { return static_cast<std::int64_t>(allocations - frees); }
  std::int64_t net_bytes() const { return net_objects() * static_cast<std::int64_t>(object_bytes); }
};

struct StatResult {
  std::string selection;       // the counted tasks: "process 812", "cgroup a/b"; empty: the whole machine
  std::uint64_t start_ns = 0;  // start of the interval, in ns since counting started
  std::uint64_t end_ns = 0;
  bool whole = true;  // true: counts since counting started; false: counts of one interval
  std::vector<StatRow> rows;
  bool knows_caches = false;            // false: the kernel does not report the cache of an object (before Linux 6.13)
  std::vector<StatCache> caches;        // the largest change of bytes first
  std::uint64_t uncounted_objects = 0;  // objects that `caches` lacks, because a table was full
  std::vector<std::string> missing;     // requested events that this kernel does not have
  std::uint64_t not_followed = 0;       // number of children of the selected processes that kmemtrace could not follow
  std::uint64_t memory = 0;             // bytes of kernel memory used for counting
  MemoryState state;                    // memory state of the machine at the start and at the end
};

// Returns the counts of the interval between two readings of the counters.
std::vector<StatRow> difference(const std::vector<StatRow>& from, std::vector<StatRow> to);

// The same for the counts of caches. Leaves out caches without an event in the interval.
std::vector<StatCache> difference(const std::vector<StatCache>& from, const std::vector<StatCache>& to);
// Sets `slabinfo_objects` of the caches that both texts of /proc/slabinfo have.
void compare_with_slabinfo(std::vector<StatCache>& caches, std::string_view from, std::string_view to);

}  // namespace kmt
