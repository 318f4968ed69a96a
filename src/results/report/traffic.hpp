// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations and frees in each time bucket of a trace. Buckets are short, so views can sum them over any longer
// interval.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/report/history.hpp"
#include "trace/event.hpp"

namespace kmt {

// Values are modulo 2^64, because a damaged trace may contain any sizes. Values may decrease: when a duplicate event is
// found, the values of the first event are subtracted.
struct TrafficCounts {
  std::uint64_t allocations = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t frees = 0;  // number of frees of the group's allocations
  std::uint64_t freed = 0;  // bytes
  // Number of allocations that ended without a free, because their address was allocated again.
  std::uint64_t replacements = 0;
  std::uint64_t replaced = 0;  // bytes

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
  std::uint32_t id = 0;  // ID of the group
  std::uint32_t bucket = 0;
  TrafficCounts counts;
};

// Bytes of a group that were allocated in bucket `began` and ended in a later bucket `ended`, with or without a free.
struct LifeTraffic {
  std::uint32_t began = 0;
  std::uint32_t ended = 0;
  std::uint64_t bytes = 0;
};

struct GroupTraffic {
  std::vector<Traffic> changes;    // counts in each bucket, sorted by bucket
  std::vector<LifeTraffic> lives;  // in wider buckets, see TrafficOverTime::lives_coarse
};
using SharedTraffic = std::shared_ptr<const GroupTraffic>;  // null if the group has no such counts

// Number of slab allocations in one bucket with equal call site, requested size and allocated size.
struct SizeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint32_t bucket = 0;
  std::uint64_t allocations = 0;
};

// Number and bytes of frees in one bucket, by the lifetime of the freed allocations. It is at least 2^octave ns (octave
// 0: 0 ns) and less than 2^(octave + 1) ns.
struct LifetimeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  Allocator allocator = Allocator::slab;
  unsigned octave = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Number and bytes of frees in one bucket, by the CPU that allocated (`from`) and the CPU that freed (`to`).
struct CpuTraffic {
  Allocator allocator = Allocator::slab;
  unsigned from = 0;
  unsigned to = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Counts over time that do not belong to groups. Their buckets are `coarse` times as wide as those of the axis. Counts
// of groups are in GroupRow::traffic.
struct TrafficOverTime {
  TimeAxis axis;
  std::uint32_t coarse = 1;
  std::vector<std::string> sites;  // names of call sites; the first name stands for events without a call site
  std::vector<SizeTraffic> sizes;
  std::vector<LifetimeTraffic> lifetimes;
  std::vector<CpuTraffic> cpus;
  std::uint32_t lives_coarse = 1;       // like `coarse`, for GroupTraffic::lives
  std::vector<std::int16_t> cpu_nodes;  // empty: unknown
};

}  // namespace kmt
