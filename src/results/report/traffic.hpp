// SPDX-License-Identifier: GPL-2.0-or-later
// What allocations did in which stretch of a trace's time, fine enough to be added up again for any stretch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/report/history.hpp"
#include "trace/event.hpp"

namespace kmt {

// Modulo 2^64: sizes are those of the trace, which may say anything, and what two events tell twice is taken back where
// the second one tells it.
struct TrafficCounts {
  std::uint64_t allocations = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t frees = 0;         // of what was allocated here
  std::uint64_t freed = 0;         // bytes
  std::uint64_t replacements = 0;  // allocations that ended without a free: their address was given again
  std::uint64_t replaced = 0;      // bytes

  TrafficCounts& operator+=(const TrafficCounts& other) {
    allocations += other.allocations;
    requested += other.requested;
    allocated += other.allocated;
    frees += other.frees;
    freed += other.freed;
    replacements += other.replacements;
    replaced += other.replaced;
    return *this;
  }
};

struct Traffic {
  std::uint32_t id = 0;  // of what changed
  std::uint32_t bucket = 0;
  TrafficCounts counts;
};

// Of one group, by bucket.
using SharedTraffic = std::shared_ptr<const std::vector<Traffic>>;  // null: not kept

// Of the slab allocator: what was asked for, and what was given.
struct SizeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint32_t bucket = 0;
  std::uint64_t allocations = 0;
};

// Of frees, by how long what they freed had lived: 2^octave ns and more (octave 0: from 0 on), less than twice that.
struct LifetimeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  Allocator allocator = Allocator::slab;
  unsigned octave = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Of frees, by who had allocated and who freed.
struct CpuTraffic {
  Allocator allocator = Allocator::slab;
  unsigned from = 0;
  unsigned to = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Those of groups are with their rows, on the axis; the others on one whose buckets are `coarse` as wide.
struct TrafficOverTime {
  TimeAxis axis;
  std::uint32_t coarse = 1;
  std::vector<std::string> sites;  // names of call sites; the first: the event does not tell
  std::vector<SizeTraffic> sizes;
  std::vector<LifetimeTraffic> lifetimes;
  std::vector<CpuTraffic> cpus;
  std::vector<std::int16_t> cpu_nodes;  // empty: not known
};

}  // namespace kmt
