// SPDX-License-Identifier: GPL-2.0-or-later
// Counts by group and time, which the ledger keeps beside its sums so that they can be added up for any stretch of
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/matching/grouping.hpp"
#include "analysis/series/bucketed_sums.hpp"
#include "base/intern_table.hpp"
#include "results/report/traffic.hpp"

namespace kmt {

class TrafficLog {
 public:
  // Every event, before what is booked of it.
  void see(const Event& event);
  void began(const Origin& origin);
  // The address was given again without a free. took_back() follows if that was a duplicate event.
  void replaced(const Origin& origin, std::uint64_t bytes, bool whole);
  void took_back(const Origin& origin);
  // `whole`: the allocation ends with these bytes.
  void freed(const Origin& origin, std::uint64_t bytes, bool whole, std::uint64_t began_ns, std::uint16_t began_cpu);

  // Returns everything that belongs to no group; call sites are numbers of a CallSiteId. The recording went on until
  // `end_ns`.
  TrafficOverTime finish(std::uint64_t end_ns);
  // By group, of `groups` of them; after finish().
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
  };

  std::uint64_t now_ns_ = 0;
  std::uint16_t cpu_ = 0;
  std::optional<Sums> sums_;  // empty without events
  InternTable<SizeKey> sizes_;
  InternTable<LifetimeKey> lifetimes_;
  InternTable<CpuKey> cpus_;
};

}  // namespace kmt
