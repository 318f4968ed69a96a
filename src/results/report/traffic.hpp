// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic of allocations by stretch of a trace's time, fine enough to be summed for any longer stretch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/report/history.hpp"
#include "trace/event.hpp"

namespace kmt {

// Modulo 2^64: a trace may contain any sizes, and a duplicate event is taken back at the second one.
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

// Traffic of one group, by bucket.
using SharedTraffic = std::shared_ptr<const std::vector<Traffic>>;  // null: not kept

// Requested and given bytes of the slab allocator.
struct SizeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint32_t bucket = 0;
  std::uint64_t allocations = 0;
};

// Frees by lifetime of the freed allocation: 2^octave ns and more (octave 0: from 0 on), less than twice that.
struct LifetimeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  Allocator allocator = Allocator::slab;
  unsigned octave = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Frees by the CPUs that allocated and freed.
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
  std::vector<std::string> sites;  // names of call sites; the first: the event does not say
  std::vector<SizeTraffic> sizes;
  std::vector<LifetimeTraffic> lifetimes;
  std::vector<CpuTraffic> cpus;
  std::vector<std::int16_t> cpu_nodes;  // empty: not known
};

}  // namespace kmt
