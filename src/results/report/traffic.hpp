// SPDX-License-Identifier: GPL-2.0-or-later
// Traffic of allocations by time bucket of a trace. Buckets are short, so they can be summed over any longer interval.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "results/report/history.hpp"
#include "trace/event.hpp"

namespace kmt {

// Values are modulo 2^64: a trace may contain any sizes, and the second of two duplicate events subtracts the first.
struct TrafficCounts {
  std::uint64_t allocations = 0;
  std::uint64_t requested = 0;  // bytes
  std::uint64_t allocated = 0;
  std::uint64_t frees = 0;         // frees of allocations of this group
  std::uint64_t freed = 0;         // bytes
  std::uint64_t replacements = 0;  // allocations that ended without a free because their address was reused
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
  std::uint32_t id = 0;  // ID of the group
  std::uint32_t bucket = 0;
  TrafficCounts counts;
};

// Traffic of one group, by bucket.
using SharedTraffic = std::shared_ptr<const std::vector<Traffic>>;  // null: not stored

// Allocations of the slab allocator by call site, requested size and given size.
struct SizeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint32_t bucket = 0;
  std::uint64_t allocations = 0;
};

// Frees by lifetime of the freed allocation: at least 2^octave ns (octave 0: 0 ns) and less than 2^(octave + 1) ns.
struct LifetimeTraffic {
  std::uint32_t site = 0;  // index into TrafficOverTime::sites
  Allocator allocator = Allocator::slab;
  unsigned octave = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Frees by allocating CPU (`from`) and freeing CPU (`to`).
struct CpuTraffic {
  Allocator allocator = Allocator::slab;
  unsigned from = 0;
  unsigned to = 0;
  std::uint32_t bucket = 0;
  std::uint64_t frees = 0;
  std::uint64_t bytes = 0;
};

// Traffic that does not belong to groups. Its buckets are `coarse` times as wide as those of the axis. Traffic of
// groups is in GroupRow::traffic, in buckets of the axis.
struct TrafficOverTime {
  TimeAxis axis;
  std::uint32_t coarse = 1;
  std::vector<std::string> sites;  // names of call sites; the first is for events without call site
  std::vector<SizeTraffic> sizes;
  std::vector<LifetimeTraffic> lifetimes;
  std::vector<CpuTraffic> cpus;
  std::vector<std::int16_t> cpu_nodes;  // empty: unknown
};

}  // namespace kmt
