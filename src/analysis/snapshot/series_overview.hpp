// SPDX-License-Identifier: GPL-2.0-or-later
// Summarises long series of snapshots for a page.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "results/snapshot/series_overview.hpp"

namespace kmt {

class SeriesOverviewAnalysis {
 public:
  // `parts` is the number of parts into which the time is divided, at least 1.
  SeriesOverviewAnalysis(std::uint64_t first_unix_ns, std::uint64_t last_unix_ns, std::size_t parts);
  // Adds a snapshot. Call this in order of time. The snapshot needs only meminfo and vmstat. `is_whole` is false if
  // large texts of the snapshot were dropped. An amount of such a snapshot counts only if the last whole snapshot has
  // it from the same sources.
  void add(const SnapshotResult& snapshot, bool is_whole);
  SeriesOverview finish();

 private:
  void add_amounts(const SnapshotResult& snapshot, bool is_whole);
  void add_amount(const BalanceLine& line, std::size_t part);
  void add_events(const KernelMemory& memory);
  void add_health(const SnapshotResult& snapshot);

  SeriesOverview overview_;
  std::size_t parts_;
  std::map<std::string, std::size_t> bands_;    // value: index into overview_.bands
  std::map<std::string, std::string> sources_;  // by ID of a line: its source in the last whole snapshot
  std::optional<std::uint64_t> page_faults_;    // of the previous snapshot
  std::optional<std::uint64_t> oom_kills_;      // of the previous snapshot
  std::map<HealthTopic, HealthAlert> open_alerts_;
};

}  // namespace kmt
