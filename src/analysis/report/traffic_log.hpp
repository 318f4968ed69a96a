// SPDX-License-Identifier: GPL-2.0-or-later
// Counts allocations and frees by group and time. The counts can be summed up for any interval.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "analysis/series/bucketed_sums.hpp"
#include "analysis/series/life_sums.hpp"
#include "base/intern_table.hpp"
#include "results/report/traffic.hpp"

namespace kmt {

class TrafficLog {
 public:
  // Advances to an event. Call this for each event before the functions below.
  void see(const Event& event);
  void began(const Origin& origin);
  // Counts a live object whose address was allocated again without a free. If the second event is a duplicate of the
  // first, the caller calls took_back() afterwards.
  void replaced(const Origin& origin, std::uint64_t bytes, bool whole);
  void took_back(const Origin& origin);
  // Counts a free. `whole` is true if nothing of the allocation remains after this event.
  void freed(const Origin& origin, std::uint64_t bytes, bool whole, std::uint64_t began_ns, std::uint16_t began_cpu);

  // Counts memory of a group that ended, with or without a free. Duplicate events end nothing.
  void ended(std::uint32_t group, std::uint64_t bytes, std::uint64_t began_ns);

  // Returns the counts of all data except groups. In the result, call sites are CallSiteId values. `end_ns` is the end
  // of the recording.
  TrafficOverTime finish(std::uint64_t end_ns);
  // Returns the counts of each group. `groups` is the number of groups. Call this after finish().
  std::vector<SharedTraffic> of_groups(std::size_t groups);

 private:
  struct SizeKey {
    std::uint64_t requested;
    std::uint64_t allocated;
    std::uint32_t call_site;
    std::uint32_t unused = 0;
  };
  struct LifetimeKey {
    std::uint32_t call_site;
    std::uint16_t allocator;
    std::uint16_t octave;
  };
  struct CpuKey {
    std::uint32_t allocator;
    std::uint16_t from;
    std::uint16_t to;
  };
  struct Sums {
    explicit Sums(std::uint64_t start_ns);
    BucketedSums groups, sizes, lifetimes, cpus;
    LifeSums lives;
  };

  std::uint64_t now_ns_ = 0;
  std::uint16_t cpu_ = 0;
  std::optional<Sums> sums_;  // empty if there are no events
  InternTable<SizeKey> sizes_;
  InternTable<LifetimeKey> lifetimes_;
  InternTable<CpuKey> cpus_;
};

}  // namespace kmt
