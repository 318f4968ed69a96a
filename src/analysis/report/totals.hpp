// SPDX-License-Identifier: GPL-2.0-or-later
// The sums of a report that do not depend on its groups. Reports that share a matching have the same totals, so only
// one of them computes the totals.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/matching/matching.hpp"
#include "analysis/matching/trace_summary.hpp"
#include "base/intern_table.hpp"
#include "results/report/report.hpp"

namespace kmt {

// Anomalies with the same properties are counted together.
struct AnomalyKey {
  std::uint32_t first_site;   // CallSiteId; 0: none
  std::uint32_t second_site;  // CallSiteId; 0: none
  std::uint32_t cache;        // a CacheId
  std::uint16_t kind;         // an Imperfection
  std::uint16_t allocator;
};
struct AnomalyCount {
  std::uint64_t count = 0;
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
};

// Live bytes and their maximum over time.
struct LiveBytes {
  std::uint64_t live_bytes = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_ns = 0;
};

// Adds live bytes. `of` has the members of LiveBytes.
void grow_live(auto& of, std::uint64_t bytes, std::uint64_t time_ns) {
  of.live_bytes += bytes;
  if (of.live_bytes > of.peak_bytes) {
    of.peak_bytes = of.live_bytes;
    of.peak_ns = time_ns;
  }
}

// The Ledger changes the sums while it follows the events of a matched batch.
struct Totals {
  struct Allocated : LiveBytes {
    std::uint64_t unmatched_frees = 0;
    std::uint64_t null_frees = 0;
  };

  // Counts the events of a batch.
  void add(const MatchedBatch& batch);
  void found(Imperfection kind, const Event& event, CallSiteId first, CallSiteId second, std::uint32_t cache);

  Allocated& of(Allocator allocator) { return allocated[static_cast<std::size_t>(allocator)]; }
  const Allocated& of(Allocator allocator) const { return allocated[static_cast<std::size_t>(allocator)]; }
  std::size_t anomaly_pairs() const { return anomaly_counts.size(); }
  const AnomalyKey& anomaly_key(std::size_t pair) const { return anomaly_keys[static_cast<std::uint32_t>(pair)]; }

  EventCounts selected_events;
  EventCounts other_events;  // events that are not selected
  EventSpan whole_span;      // all events of the trace
  std::array<Allocated, kAllocators> allocated{};
  std::array<PageOrderRow, kMostPageOrder + 1> orders{};
  std::uint64_t cross_node_allocations = 0;
  std::uint64_t recorder_frees = 0;  // as in ExplainedAnomalies
  std::array<std::uint64_t, kImperfections.size()> anomalies{};
  InternTable<AnomalyKey> anomaly_keys;
  std::vector<AnomalyCount> anomaly_counts;  // index: ID in anomaly_keys
};

}  // namespace kmt
